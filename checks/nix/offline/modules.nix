# Of nixpkgs' module system what the home module and its check use: options by path, a few types, the merge of what
# several modules define, and an error for a definition that no option takes.
let
  inherit (builtins)
    all
    attrNames
    concatLists
    concatMap
    concatStringsSep
    filter
    functionArgs
    head
    intersectAttrs
    isAttrs
    isFunction
    isList
    length
    listToAttrs
    mapAttrs
    tail
    ;
  isOption = value: isAttrs value && value._type or null == "option";
  isPackage = value: isAttrs value && value.type or null == "derivation";
  last = list: builtins.elemAt list (length list - 1);

  types = {
    package = {
      name = "package";
      check = isPackage;
      merge = last;
    };
    anything = {
      name = "anything";
      check = _: true;
      merge = last;
    };
    listOf = element: {
      name = "list of ${element.name}";
      check = value: isList value && all element.check value;
      merge = concatLists;
    };
    attrsOf = element: {
      name = "attribute set of ${element.name}";
      check = value: isAttrs value && all (name: element.check value.${name}) (attrNames value);
      merge =
        values:
        listToAttrs (
          map (name: {
            inherit name;
            value = element.merge (map (value: value.${name}) (filter (value: value ? ${name}) values));
          }) (concatMap attrNames values)
        );
    };
  };

  mkOption = option: option // { _type = "option"; };

  # The values of these option trees (attribute sets with options as leaves), given the trees of definitions.
  merged =
    path: options: definitions:
    let
      names = attrNames (listToAttrs (map (name: { inherit name; value = null; }) (concatMap attrNames options)));
      stray = filter (name: !(builtins.elem name names)) (concatMap attrNames definitions);
      at = name: trees: map (tree: tree.${name}) (filter (tree: tree ? ${name}) trees);
      value =
        name:
        let
          here = path ++ [ name ];
          declared = at name options;
          defined = at name definitions;
          option = head declared;
          shown = concatStringsSep "." here;
        in
        if !isOption option then
          merged here declared defined
        else if length declared > 1 then
          throw "The option `${shown}' is declared twice."
        else if !(all option.type.check defined) then
          throw "A definition for option `${shown}' is not of type `${option.type.name}'."
        else if defined == [ ] then
          option.default or (throw "The option `${shown}' was accessed but has no value defined.")
        else
          option.type.merge defined;
    in
    if stray != [ ] then
      throw "The option `${concatStringsSep "." (path ++ [ (head stray) ])}' does not exist."
    else
      listToAttrs (map (name: { inherit name; value = value name; }) names);

  evalModules =
    { modules }:
    let
      lib = { inherit mkOption types; };
      load =
        module:
        let
          it = if isFunction module || isAttrs module then module else import module;
        in
        if isFunction it then it (intersectAttrs (functionArgs it) { inherit config lib; }) else it;
      loaded = map load modules;
      config = merged [ ] (map (module: module.options or { }) loaded) (map (module: module.config or { }) loaded);
    in
    {
      inherit config;
    };
in
{
  inherit evalModules mkOption types;
}
