# What `nix flake check` builds. Each of these fails where what it looks at is not so.
{
  pkgs,
  self,
  program,
  skills,
}:
let
  python = pkgs.python3.withPackages (ps: [
    program
    ps.hypothesis
    ps.pytest
    ps.pytest-xdist
    ps.syrupy
  ]);
  source = program.src;

  # NAME=VALUE of an attribute set, as arguments.
  words =
    set:
    builtins.concatStringsSep " " (
      builtins.attrValues (builtins.mapAttrs (name: value: "${name}=${value}") set)
    );

  # A development shell's hook for these skills, as a file.
  hook = drvs: pkgs.writeText "shell-hook" (self.lib.mkSkillsShellHook drvs);

  # The files that the home module places for these skills: path -> source. Home Manager's own option is stubbed.
  homeFiles =
    drvs:
    (pkgs.lib.evalModules {
      modules = [
        self.homeModules.default
        {
          options.home.file = pkgs.lib.mkOption { type = pkgs.lib.types.attrsOf pkgs.lib.types.anything; };
          config.programs.agents.skills = drvs;
        }
      ];
    }).config.home.file;
  placed = homeFiles (builtins.attrValues skills);
  refuses = drvs: !(builtins.tryEval (builtins.deepSeq (builtins.attrNames (homeFiles drvs)) true)).success;
in
{
  # The tests on recorded runs, and on git repositories made in here, against the installed program and without network.
  golden =
    pkgs.runCommand "golden"
      {
        nativeBuildInputs = [
          python
          pkgs.git
        ];
      }
      ''
        export HOME=$TMPDIR
        cp -r ${source}/checks ${source}/skills ${source}/tests ${source}/pyproject.toml .
        chmod -R u+w .
        pytest -p no:cacheprovider -Wdefault -q -n "$NIX_BUILD_CORES" checks/test_end_to_end.py \
          checks/test_golden_sources.py checks/test_released.py checks/test_report.py checks/test_rules.py
        python checks/demo.py reports
        touch "$out"
      '';

  # Each SKILL.md is valid, and a package holds the skill's files and no others.
  skills = pkgs.runCommand "skills" { nativeBuildInputs = [ python ]; } ''
    python ${./check_skills.py} ${source}/skills ${words skills}
    test "$(sed -n "s/^bundled='\(.*\)'$/\1/p" ${skills.benchmark-skill}/scripts/skillbench)" = ${program}/bin/skillbench
    touch "$out"
  '';

  # The hook does to a project what skills-hook.sh says, and nothing the second time.
  shell-hook = pkgs.runCommand "shell-hook" { nativeBuildInputs = [ pkgs.git ]; } ''
    export HOME=$TMPDIR
    bash ${./check-shell-hook.sh} ${hook (builtins.attrValues skills)} ${hook [ skills.release-notes ]} ${hook [ ]} \
      ${skills.benchmark-skill} ${skills.release-notes}
    touch "$out"
  '';

  # The module places each skill where clients look, and nothing for an empty list; what is no skill is refused.
  home-module =
    assert homeFiles [ ] == { };
    assert refuses [ "release-notes" ];
    assert refuses [
      skills.release-notes
      skills.release-notes
    ];
    pkgs.runCommand "home-module" { } ''
      mkdir home && cd home
      bash ${./check-home-module.sh} ${skills.benchmark-skill} ${
        words (builtins.mapAttrs (_: file: file.source) placed)
      } -- ${words skills}
      touch "$out"
    '';

  # The packaged skill starts its own program, which scores the recorded runs of a project that can't be written to.
  launcher = pkgs.runCommand "launcher" { } ''
    bash ${./check-launcher.sh} ${skills.benchmark-skill}/scripts/skillbench ${program}/bin/skillbench ${source}
    touch "$out"
  '';

  # The overlay gives the same packages as the flake.
  overlay =
    let
      extended = pkgs.extend self.overlays.default;
    in
    assert extended.agentSkills.benchmark-skill.outPath == skills.benchmark-skill.outPath;
    assert extended.python3Packages.pytest-skillbench.outPath == program.outPath;
    extended.agentSkills.benchmark-skill;
}
