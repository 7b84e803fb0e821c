# A list of skill packages with the name of each, or every reason at once why it is none.
{
  # named WHO LIST: [ { name, drv } … ] in the list's order. WHO is named in the message.
  named =
    who: drvs:
    let
      isDrv = value: builtins.isAttrs value && value.type or null == "derivation";
      nameOf = drv: drv.skillName or drv.pname or (builtins.parseDrvName drv.name).name;
      each = builtins.genList (index: rec {
        drv = builtins.elemAt drvs index;
        name = nameOf drv;
        earlier = builtins.filter (other: isDrv other && nameOf other == name) (
          builtins.genList (builtins.elemAt drvs) index
        );
        problem =
          if !isDrv drv then
            "element ${toString (index + 1)} is a ${builtins.typeOf drv}; expected the package of a skill"
          else if builtins.match "[A-Za-z0-9_][A-Za-z0-9_.-]*" name == null then
            ''element ${toString (index + 1)} is named "${name}"; expected letters, digits and hyphens''
          else if earlier != [ ] then
            ''two skills are named "${name}"; expected each name once''
          else
            null;
      }) (builtins.length drvs);
      problems = builtins.filter (problem: problem != null) (map (one: one.problem) each);
    in
    if !builtins.isList drvs then
      throw "${who}: got a ${builtins.typeOf drvs}; expected a list of skill packages"
    else if problems != [ ] then
      throw "${who}: ${builtins.concatStringsSep "\n${who}: " problems}"
    else
      map (one: { inherit (one) name drv; }) each;
}
