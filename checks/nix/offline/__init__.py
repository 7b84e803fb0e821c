"""A stand-in for nixpkgs: of it what the flake uses, made of the machine's tools and of wheels."""
