# Skills as packages: found below a folder, checked, and copied as they are.
let
  inherit (builtins)
    attrNames
    baseNameOf
    concatMap
    concatStringsSep
    filter
    listToAttrs
    match
    pathExists
    readDir
    stringLength
    ;

  # A name that is one by the Agent Skills specification and that `nix build .#NAME` takes without quotes.
  isName = name: stringLength name <= 64 && match "[a-z][a-z0-9]*(-[a-z0-9]+)*" name != null;
  nameRule = "at most 64 of a-z, 0-9 and single hyphens between them, a letter first";

  # What else is in `packages`.
  reserved = [
    "default"
    "pytest-skillbench"
  ];

  isFile =
    folder: entries: name:
    entries.${name} or null == "regular"
    || (entries.${name} or null == "symlink" && pathExists (folder + "/${name}"));

  # { path; skills; problems; isBarren; }: the path below ROOT of each folder with a SKILL.md, at any depth, also inside
  # another skill. Barren is a folder without a skill in it or around it; the uppermost one is told.
  look =
    root:
    let
      below =
        path: inSkill:
        let
          folder = root + path;
          entries = readDir folder;
          isSkill = path != "" && isFile folder entries "SKILL.md";
          ofType = type: filter (name: entries.${name} == type) (attrNames entries);
          inner = map (name: below "${path}/${name}" (inSkill || isSkill)) (ofType "directory");
          links = filter (name: pathExists (folder + "/${name}/SKILL.md")) (ofType "symlink");
          skills = (if isSkill then [ path ] else [ ]) ++ concatMap (found: found.skills) inner;
          isBarren = path != "" && !inSkill && skills == [ ] && links == [ ];
          linked = map (
            name: "skills${path}/${name}: a link to a skill; expected a folder, whose files can be packaged"
          ) links;
          barren = map (
            found: "skills${found.path}: no SKILL.md here or below; expected skills${found.path}/SKILL.md"
          ) (filter (found: found.isBarren) inner);
        in
        {
          inherit path skills isBarren;
          problems =
            concatMap (found: found.problems) inner ++ linked ++ (if isBarren then [ ] else barren);
        };
    in
    below "" false;

  nameProblems =
    paths:
    concatMap (
      path:
      let
        name = baseNameOf path;
        same = filter (other: baseNameOf other == name) paths;
      in
      if !isName name then
        [ ''skills${path}: "${name}" can't be the name of a package; expected ${nameRule}'' ]
      else if builtins.elem name reserved then
        [ ''skills${path}: "${name}" is the name of another package of this flake; expected another name'' ]
      else if builtins.length same > 1 && builtins.head same == path then
        [ ''${concatStringsSep ", " (map (other: "skills${other}") same)}: skills of one name, "${name}"; expected each name once'' ]
      else
        [ ]
    ) paths;

  # The paths below ROOT of its skills, by name. Every problem is told at once.
  find =
    root:
    let
      found = look root;
      problems = found.problems ++ nameProblems found.skills;
    in
    if problems != [ ] then
      throw "\n${concatStringsSep "\n" problems}"
    else
      listToAttrs (
        map (path: {
          name = baseNameOf path;
          value = path;
        }) found.skills
      );

  # mkSkill pkgs { src; name ? …; program ? null; }: the skill in folder SRC as a package. With PROGRAM, its launcher
  # scripts/skillbench runs that package's program and no other. A copy, and no more: what a build of the usual kind does
  # to its result (it rewrites the first line of scripts) would make it another skill.
  mkSkill =
    pkgs:
    {
      src,
      name ? baseNameOf src,
      program ? null,
    }:
    let
      agents = filter (file: match ".*[.]md" file != null) (
        if pathExists (src + "/agents") then attrNames (readDir (src + "/agents")) else [ ]
      );
      files =
        if builtins.isPath src then
          builtins.path {
            path = src;
            name = "${name}-source";
          }
        else
          "${src}";
      launcher = "$out/scripts/skillbench";
    in
    if !isName name then
      throw ''mkSkill: "${name}" can't be the name of a package; expected name = …: ${nameRule}''
    else if !pathExists (src + "/SKILL.md") then
      throw "mkSkill: no SKILL.md in ${toString src}; expected the folder of a skill"
    else
      pkgs.runCommand name
        {
          passthru = {
            inherit agents;
            skillName = name;
          };
          meta.description = "The agent skill ${name}";
        }
        (
          ''
            cp -r ${files} "$out"
          ''
          + (
            if program == null then
              ""
            else
              ''
                chmod -R u+w "$out"
                grep -qF "bundled='@skillbench@'" ${launcher}
                sed -i "s|^bundled='@skillbench@'\$|bundled='${program}/bin/skillbench'|" ${launcher}
                grep -qxF "bundled='${program}/bin/skillbench'" ${launcher}
              ''
          )
        );
in
{
  inherit find mkSkill;

  # Every skill below ROOT as a package; those that carry the launcher get PROGRAM bound to it.
  packages =
    pkgs:
    { root, program }:
    builtins.mapAttrs (
      name: path:
      let
        src = root + path;
      in
      mkSkill pkgs {
        inherit src name;
        program = if pathExists (src + "/scripts/skillbench") then program else null;
      }
    ) (find root);
}
