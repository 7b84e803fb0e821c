{
  description = "Prove whether an agent skill makes an agent's work better than no skill, and whether an edit made it worse";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixpkgs-unstable";

  outputs =
    { self, nixpkgs }:
    let
      systems = [
        "x86_64-linux"
        "aarch64-linux"
        "aarch64-darwin"
      ];
      eachSystem = f: nixpkgs.lib.genAttrs systems (system: f nixpkgs.legacyPackages.${system});

      skills = import ./checks/nix/skills.nix;
      programOf = pkgs: pkgs.python3Packages.callPackage ./checks/nix/package.nix { };
      skillsOf =
        pkgs: program:
        skills.packages pkgs {
          inherit program;
          root = ./skills;
        };
    in
    {
      # A package per folder below skills/ that has a SKILL.md, and the program.
      packages = eachSystem (
        pkgs:
        skillsOf pkgs (programOf pkgs)
        // rec {
          pytest-skillbench = programOf pkgs;
          default = pytest-skillbench;
        }
      );

      apps = eachSystem (pkgs: rec {
        skillbench = {
          type = "app";
          program = "${programOf pkgs}/bin/skillbench";
          meta.description = "The program skillbench";
        };
        default = skillbench;
      });

      # pkgs.pytest-skillbench, python3Packages.pytest-skillbench of every Python, and pkgs.agentSkills.NAME.
      overlays.default = final: prev: {
        pythonPackagesExtensions = prev.pythonPackagesExtensions ++ [
          (python: _: { pytest-skillbench = python.callPackage ./checks/nix/package.nix { }; })
        ];
        inherit (final.python3Packages) pytest-skillbench;
        agentSkills = skillsOf final final.pytest-skillbench;
      };

      # mkSkill pkgs { src, name ? the folder's, program ? null }: a folder with a SKILL.md as a package.
      # mkSkillsShellHook [ drv … ]: a shellHook that links skills into the project.
      lib = {
        inherit (skills) mkSkill;
        mkSkillsShellHook = import ./checks/nix/shell-hook.nix;
      };

      # programs.agents.skills = [ drv … ]
      homeModules.default = ./checks/nix/home-module.nix;

      devShells = eachSystem (pkgs: {
        default = import ./checks/nix/dev-shell.nix { inherit pkgs; };
      });

      formatter = eachSystem (pkgs: pkgs.nixfmt-tree);

      checks = eachSystem (
        pkgs:
        import ./checks/nix/checks.nix {
          inherit pkgs self;
          program = programOf pkgs;
          skills = skillsOf pkgs (programOf pkgs);
        }
      );
    };
}
