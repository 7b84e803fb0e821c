# For Home Manager: programs.agents.skills = [ drv … ] places skills where agent clients look for a user's own.
{ config, lib, ... }:
let
  inherit (import ./names.nix) named;

  filesOf =
    { name, drv }:
    [
      {
        name = ".agents/skills/${name}";
        value.source = drv;
      }
      {
        name = ".claude/skills/${name}";
        value.source = drv;
      }
    ]
    ++ map (file: {
      name = ".claude/agents/${file}";
      value.source = "${drv}/agents/${file}";
    }) (drv.agents or [ ]);
in
{
  options.programs.agents.skills = lib.mkOption {
    type = lib.types.listOf lib.types.package;
    default = [ ];
    description = "Packages of agent skills to place in the home folder, for every project.";
  };

  config.home.file = builtins.listToAttrs (
    builtins.concatMap filesOf (named "programs.agents.skills" config.programs.agents.skills)
  );
}
