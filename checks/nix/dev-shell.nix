# Everything that `make test` needs. SKILLBENCH_SHELL tells the Makefile to use these tools and to make no environment.
{ pkgs }:
let
  program = pkgs.python3Packages.callPackage ./package.nix { doCheck = false; };
  # The program is in it for its metadata, by which pytest finds the plugin; its modules are those of the working tree.
  python = pkgs.python3.withPackages (ps: [
    program
    ps.hatchling
    ps.hypothesis
    ps.mypy
    ps.pip
    ps.playwright
    ps.pytest
    ps.pytest-xdist
    ps.ruff
    ps.syrupy
    ps.types-pyyaml
  ]);
in
pkgs.mkShell {
  packages = [
    python
    pkgs.git
    pkgs.gnumake
  ]
  ++ pkgs.lib.optionals pkgs.stdenv.hostPlatform.isLinux [ pkgs.chromium ];
  SKILLBENCH_SHELL = "1";
  shellHook = ''
    export PYTHONPATH="$(git rev-parse --show-toplevel 2>/dev/null || pwd)''${PYTHONPATH:+:$PYTHONPATH}"
  '';
}
