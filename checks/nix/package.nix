# The program and the pytest plugin, in the form of a package of nixpkgs.
{
  lib,
  buildPythonPackage,
  filelock,
  hatchling,
  jinja2,
  markdown-it-py,
  msgspec,
  pluggy,
  pytest,
  pytestCheckHook,
  pyyaml,
  rich,
  doCheck ? true,
}:
let
  root = ../..;
  # What the build and its tests read; an edit of anything else builds nothing anew.
  wanted = [
    "LICENSE"
    "README.md"
    "checks"
    "pyproject.toml"
    "pytest_skillbench"
    "skills"
    "tests"
  ];
  versionLine = builtins.match ".*__version__ = \"([^\"]+)\".*" (
    builtins.readFile (root + "/pytest_skillbench/__init__.py")
  );
in
buildPythonPackage {
  pname = "pytest-skillbench";
  version = builtins.head versionLine;
  pyproject = true;
  src = builtins.path {
    name = "pytest-skillbench-source";
    path = root;
    filter =
      path: _type:
      let
        parts = builtins.split "/" (
          builtins.substring (builtins.stringLength (toString root) + 1) (builtins.stringLength path) path
        );
      in
      builtins.elem (builtins.head parts) wanted;
  };

  build-system = [ hatchling ];
  # A plugin leaves the choice of pytest to the environment that it is put in.
  buildInputs = [ pytest ];
  dependencies = [
    filelock
    jinja2
    markdown-it-py
    msgspec
    pluggy
    pyyaml
    rich
  ];

  inherit doCheck;
  nativeCheckInputs = [ pytestCheckHook ];
  enabledTestPaths = [ "checks/test_end_to_end.py" ];
  # A deprecation in some later Python or pytest is no reason to have no package.
  pytestFlags = [ "-Wdefault" ];
  pythonImportsCheck = [
    "pytest_skillbench"
    "pytest_skillbench.cli"
    "pytest_skillbench.plugin"
  ];

  meta = {
    description = "Prove whether an agent skill makes an agent's work better than no skill, and whether an edit made it worse";
    mainProgram = "skillbench";
    license = lib.licenses.mit;
  };
}
