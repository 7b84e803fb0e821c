# Stands in for nixpkgs where it can't be had: what the project's flake uses of it and nothing more, made of the machine's
# own tools and of wheels. make.py lays packages.json and wheels/ beside this file.
{
  outputs =
    { self }:
    let
      machine = builtins.fromJSON (builtins.readFile ./packages.json);
      wheelFile = described: "${self}/wheels/${described.wheel}";

      lib = import ./modules.nix // {
        genAttrs =
          names: f:
          builtins.listToAttrs (
            map (name: {
              inherit name;
              value = f name;
            }) names
          );
        licenses.mit.spdxId = "MIT";
        optionals = condition: list: if condition then list else [ ];
      };

      # Every Python environment holds the wheels of declared packages, and of what those declare, and no others.
      wheels =
        ps:
        let
          keyed = map (p: {
            inherit p;
            key = p.pname;
          });
          closure = builtins.genericClosure {
            startSet = keyed ps;
            operator = found: keyed found.p.requires;
          };
        in
        map (found: found.p.wheel) closure;

      # pip runs from its own wheel, so that no environment has to hold it.
      pip = "${machine.python} ${wheelFile machine.packages.pip}/pip";
      install = folder: files: "${pip} --python ${folder}/bin/python install -q --no-index --no-deps --no-compile ${toString files}";
      environment = folder: files: ''
        ${machine.python} -m venv --without-pip ${folder}
        ${if files == [ ] then "" else install folder files}
      '';

      legacyPackages =
        system: overlays:
        let
          final = builtins.foldl' (pkgs: overlay: pkgs // overlay final pkgs) (packagesOf system overlays final) overlays;
        in
        final;

      packagesOf =
        system: overlays: final:
        let
          mkDerivation =
            args:
            derivation (
              {
                inherit system;
                outputs = [ "out" ]; # the default, but a shell can't be entered where it is not said
                builder = "/bin/bash";
                args = [ ./build.sh ];
                PATH = builtins.concatStringsSep ":" (
                  map (drv: "${drv}/bin") (args.nativeBuildInputs or [ ])
                  ++ [
                    "/usr/bin"
                    "/bin"
                  ]
                );
              }
              // removeAttrs args [
                "meta"
                "passthru"
              ]
            )
            // (args.passthru or { })
            // {
              meta = args.meta or { };
            };

          runCommand = name: args: buildCommand: mkDerivation (args // { inherit name buildCommand; });

          # A program of the machine's. Without it, in a shell only, the shell lacks it as well.
          system-program =
            name: required:
            runCommand name { } ''
              mkdir -p "$out/bin"
              if [ -x /usr/bin/${name} ]; then
                ln -s /usr/bin/${name} "$out/bin/${name}"
              else
                echo "/usr/bin/${name} is not on this machine"
                ${if required then "exit 1" else ""}
              fi
            '';

          buildPythonPackage =
            args@{
              pname,
              version,
              src,
              pyproject,
              build-system,
              dependencies,
              ...
            }:
            let
              check = args.doCheck or true;
              tools = build-system ++ dependencies ++ (args.buildInputs or [ ]) ++ (if check then args.nativeCheckInputs or [ ] else [ ]);
              drv = mkDerivation {
                name = "python3-${pname}-${version}";
                inherit src;
                meta = args.meta or { };
                passthru = { inherit pname version src; };
                buildCommand = ''
                  ${environment "$TMPDIR/env" (wheels tools)}
                  ${pip} --python "$TMPDIR/env/bin/python" wheel -q --no-index --no-deps --no-build-isolation -w "$out/wheel" .
                  ${environment "$out" (wheels dependencies)}
                  ${install "$out" [ "\"$out\"/wheel/*.whl" ]}
                  ${install "$TMPDIR/env" [ "\"$out\"/wheel/*.whl" ]}
                  ${pip} --python "$TMPDIR/env/bin/python" check
                  ${builtins.concatStringsSep "\n" (
                    map (module: "(cd / && \"$TMPDIR/env/bin/python\" -c 'import ${module}')") (args.pythonImportsCheck or [ ])
                    ++ (
                      if check && builtins.any (p: p ? runsPytest) (args.nativeCheckInputs or [ ]) then
                        [
                          "PATH=$TMPDIR/env/bin:$PATH python -m pytest ${
                            toString ((args.pytestFlags or [ ]) ++ (args.enabledTestPaths or [ ]))
                          }"
                        ]
                      else
                        [ ]
                    )
                  )}
                '';
              };
            in
            assert pyproject;
            drv
            // {
              wheel = "${drv}/wheel/*.whl";
              requires = dependencies;
            };

          pythonBase =
            python3Packages:
            builtins.mapAttrs (pname: p: {
              inherit pname;
              inherit (p) version;
              wheel = wheelFile p;
              requires = map (name: python3Packages.${name}) p.requires;
            }) machine.packages
            // {
              inherit buildPythonPackage;
              pytestCheckHook = python3Packages.pytest // {
                runsPytest = true;
              };
              callPackage =
                file: args:
                let
                  f = import file;
                in
                f (builtins.intersectAttrs (builtins.functionArgs f) (final // python3Packages) // args);
            };
        in
        {
          inherit lib runCommand;
          writeText = name: text: runCommand name { inherit text; } ''printf '%s' "$text" >"$out"'';
          stdenv.hostPlatform = {
            inherit system;
            isLinux = builtins.match ".*-linux" system != null;
          };
          pythonPackagesExtensions = [ ];
          python3Packages =
            let
              python3Packages = builtins.foldl' (
                ps: extension: ps // extension python3Packages ps
              ) (pythonBase python3Packages) final.pythonPackagesExtensions;
            in
            python3Packages;
          python3.withPackages =
            f: runCommand "python3-env" { } (environment "$out" (wheels (f final.python3Packages)));
          mkShell =
            args:
            mkDerivation (
              removeAttrs args [ "packages" ]
              // {
                name = "nix-shell";
                nativeBuildInputs = args.packages;
                buildCommand = ''touch "$out"'';
              }
            );
          # nix develop takes its shell from here.
          bashInteractive = runCommand "bash" { } ''mkdir -p "$out/bin" && cp /bin/bash "$out/bin/bash"'';
          git = system-program "git" true;
          gnumake = system-program "make" true;
          chromium = system-program "chromium" false;
          # Evaluated, never built: there is no formatter here.
          nixfmt-tree = runCommand "nixfmt-tree" { } "exit 1";
          extend = overlay: legacyPackages system (overlays ++ [ overlay ]);
        };
    in
    {
      inherit lib;
      legacyPackages = lib.genAttrs [ "x86_64-linux" "aarch64-linux" "aarch64-darwin" ] (system: legacyPackages system [ ]);
    };
}
