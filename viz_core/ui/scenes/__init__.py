"""The scenes, one a file: params → core → figure. Each module has one SCENE."""
