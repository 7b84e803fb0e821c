# mkSkillsShellHook [ drv … ]: text for the shellHook of a development shell. skills-hook.sh says what it does.
drvs:
let
  inherit (import ./names.nix) named;
  store = builtins.storeDir;
  words = map ({ name, drv }: "${name} ${drv}") (named "mkSkillsShellHook" drvs);
in
# A skill that can't be placed is told by the hook, and is no reason to have no shell.
''
  "''${BASH:-bash}" ${./skills-hook.sh} ${builtins.concatStringsSep " " ([ store ] ++ words)} || :
''
