"""Settings: defaults, and every mistake at once."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from flywheel.config import Config, locate, parse_config, render_defaults
from flywheel.errors import ConfigError
from flywheel.resources import resource_dir


def test_the_shipped_file_equals_the_defaults() -> None:
    """`config/flywheel.toml` is what the code says, to the byte, and parses to the default `Config`."""
    text = (resource_dir("config") / "flywheel.toml").read_text("utf-8")
    assert text == render_defaults()
    assert parse_config(tomllib.loads(text), text=text) == Config()


def test_every_mistake_is_listed_with_file_line_and_remedy() -> None:
    """Unknown section, unknown key, wrong type, impossible value, unknown choice: one error names them all."""
    text = """
[stoer]
url = "x"
[context]
budgt = 5
deadline_ms = "fast"
[context.shares]
slot = 2.0
[daemon]
threads = 0
[log]
level = "loud"
"""
    with pytest.raises(ConfigError) as caught:
        parse_config(tomllib.loads(text), file="my.toml", text=text)
    lines = caught.value.message.splitlines()
    assert [line.split(":")[:2] for line in lines] == [
        ["my.toml", "2"],
        ["my.toml", "5"],
        ["my.toml", "6"],
        ["my.toml", "7"],
        ["my.toml", "10"],
        ["my.toml", "12"],
    ]
    assert "did you mean 'store'?" in lines[0]
    assert "did you mean 'budget'?" in lines[1]
    assert "a whole number" in lines[2]
    assert "between 0 and 1" in lines[3]
    assert "one of debug, info, warning, error" in lines[5]


def test_a_boolean_is_no_number() -> None:
    """TOML's true is not taken for 1, nor 1 for true."""
    for table in ({"context": {"budget": True}}, {"search": {"abstain": 1}}):
        with pytest.raises(ConfigError):
            parse_config(table)


def test_a_whole_number_serves_where_a_fraction_is_wanted() -> None:
    """`floor = 1` is 1.0."""
    assert parse_config({"extract": {"floor": 1}}).extract.floor == 1.0


def test_shares_past_the_whole_are_refused() -> None:
    """Shares that add up to more than 1 are impossible together though each is possible."""
    with pytest.raises(ConfigError, match="add up to"):
        parse_config({"context": {"shares": {"slot": 0.9, "entries": 0.9}}})


def test_a_relative_socket_path_is_refused() -> None:
    """It would mean another socket to each process."""
    with pytest.raises(ConfigError, match=r"my.toml:2: daemon.socket must be an absolute path"):
        parse_config({"daemon": {"socket": "x.sock"}}, file="my.toml", text='[daemon]\nsocket = "x.sock"\n')


def test_a_model_of_no_known_kind_is_refused_with_the_rest() -> None:
    """What only several settings together, or a form, make wrong is in the same list as everything else."""
    with pytest.raises(ConfigError) as caught:
        parse_config({"embed": {"model": "big"}, "daemon": {"threads": 0, "socket": "s"}})
    assert len(caught.value.message.splitlines()) == 3
    assert parse_config({"embed": {"model": "sentence-transformers:x/y"}}).embed.model == "sentence-transformers:x/y"


def test_partial_tables_keep_the_other_defaults() -> None:
    """Naming one share leaves the others as they were."""
    shares = parse_config({"context": {"shares": {"slot": 0.05}}}).context.shares
    assert shares["slot"] == 0.05
    assert shares["entries"] == Config().context.shares["entries"]


def test_places_follow_the_environment() -> None:
    """One folder with FLYWHEEL_HOME; else the XDG folders; else the socket lies with the data."""
    home = Path("/home/user")
    one = locate({"FLYWHEEL_HOME": "/srv/fw"}, home)
    assert (one.config, one.data, one.run) == (Path("/srv/fw/flywheel.toml"), Path("/srv/fw/data"), Path("/srv/fw/run"))
    xdg = locate({"XDG_RUNTIME_DIR": "/run/user/7", "XDG_DATA_HOME": "/d"}, home)
    assert (xdg.data, xdg.run) == (Path("/d/flywheel"), Path("/run/user/7/flywheel"))
    assert locate({}, home).socket(Config()) == home / ".local/share/flywheel/run/flywheel.sock"
