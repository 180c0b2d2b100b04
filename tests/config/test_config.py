"""Settings come from options, the environment and files, in that order, and say where they came from."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocrawl.app.findings import check_settings, demand_usable
from geocrawl.config import (
    Configuration,
    configuration_files,
    database_path,
    from_options,
    kept_at_reload,
    load,
    without_effect,
)
from geocrawl.config.names import settings_by_name
from geocrawl.config.show import rows
from geocrawl.errors import GeocrawlError, UsageError
from geocrawl.settings import Settings
from geocrawl.wording import read_duration, read_size, spell_duration, spell_size
from scripts import settings_page


def check_file(file: Path) -> list[str]:
    findings, _ = check_settings({}, {}, Path.cwd(), [file])
    return [finding.text for finding in findings if finding.severity]


def _file(folder: Path, text: str, name: str = "geocrawl.toml") -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def _load(tmp_path: Path, text: str = "", **options: object) -> Configuration:
    return load(options, environ={}, cwd=tmp_path, files=[_file(tmp_path, text)])


def test_without_any_source_every_value_is_the_default(tmp_path: Path) -> None:
    configuration = load(environ={}, cwd=tmp_path, files=[])
    assert configuration.settings == Settings()
    assert set(configuration.origins.values()) == {"default"}


def test_option_beats_environment_beats_files_beats_default(tmp_path: Path) -> None:
    near = _file(tmp_path, "workers = 2\nmax_depth = 2\nmax_pages = 2\n", "near.toml")
    far = _file(tmp_path, "workers = 1\nmax_depth = 1\nmax_pages = 1\ndelay = '4s'\n", "far.toml")
    environ = {"GEOCRAWL_WORKERS": "3", "GEOCRAWL_MAX_DEPTH": "3", "GEOCRAWL_QUIET": ""}
    loaded = load({"workers": 4, "scope": None}, environ=environ, cwd=tmp_path, files=[near, far])
    s = loaded.settings
    assert (s.workers, s.max_depth, s.max_pages, s.delay_s, s.scope) == (4, 3, 2, 4.0, "any")
    origins = [loaded.origins[name] for name in ("workers", "max_depth", "max_pages", "delay", "scope")]
    assert origins == ["option", "environment GEOCRAWL_MAX_DEPTH", str(near), str(far), "default"]


def test_files_are_looked_for_here_then_with_the_user_then_in_etc(tmp_path: Path) -> None:
    files = configuration_files({"HOME": "/home/ada"}, tmp_path)
    assert files == (
        tmp_path / "geocrawl.toml",
        Path("/home/ada/.config/geocrawl/config.toml"),
        Path("/etc/geocrawl/config.toml"),
    )
    assert configuration_files({"XDG_CONFIG_HOME": "/x"}, tmp_path)[1] == Path("/x/geocrawl/config.toml")


def test_a_working_folder_that_we_cannot_enter_holds_no_file_of_ours(tmp_path: Path) -> None:
    files = configuration_files({"HOME": "/home/ada"}, tmp_path / "gone")
    assert files[0] == Path("/home/ada/.config/geocrawl/config.toml")


def test_a_file_in_the_working_folder_is_found_and_absent_ones_are_no_error(tmp_path: Path) -> None:
    _file(tmp_path, "max_pages = 7")
    loaded = load(environ={"HOME": str(tmp_path / "none")}, cwd=tmp_path)
    assert loaded.settings.max_pages == 7


@pytest.mark.parametrize("name", list(settings_by_name()))
def test_every_setting_has_a_name_without_its_unit(name: str) -> None:
    assert not name.endswith(("_s", "_bytes"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("max_page = 5", "max_page: no such setting, did you mean max_pages?"),
        ("max_time_s = 5", "max_time_s: no such setting, did you mean max_time?"),
        ("max_url_chars = 5", "max_url_chars: no longer a setting: addresses have at most 2,000 characters"),
        ("workers = 100000", "workers = 100000: expected a number, at most 1,000"),
        ("workers = 0", "workers = 0: expected a number, at least 1"),
        ("workers = true", "workers = True: expected a number"),
        ("workers = 2.5", "workers = 2.5: expected a whole number"),
        ("delay = -1", "delay = -1: expected a duration"),
        ("delay = '10 bananas'", "delay = '10 bananas': expected a duration"),
        ("delay = inf", "delay = inf: expected a duration"),
        ("page_body = '5 MB/s'", "page_body = '5 MB/s': expected a size"),
        ("total_timeout = 0", "total_timeout = 0: expected a duration above 0"),
        ("scope = 'world'", "scope = 'world': expected one of any, site, host"),
        ("quiet = 5", "quiet = 5: expected true or false"),
        ('user_agent = "a\\nb"', "expected one line without control characters"),
        ("proxy = 'socks4://127.0.0.1:1080'", "expected a proxy such as http://proxy.example:3128 or socks5://"),
        ("proxy = '127.0.0.1:8080'", "expected a proxy such as http://proxy.example:3128"),
        ("set = 5", "set: expected a table"),
        ("set = {a = []}", "expected NAME=VALUE"),
        ("max_pages = = 5", "not TOML"),
        ('[sites."http://a.example/maps"]\nuser = "x"', "expected a host name, such as maps.example.org, or an origin"),
        ('[sites."a.example:8443"]\nuser = "x"', "or an origin, such as https://maps.example.org:8443"),
        ('[sites."ftp://a.example"]\nuser = "x"', "expected a host name"),
        ('[sites."https://ada:x@a.example"]\nuser = "x"', '[sites."https://***@a.example"]: expected a host name'),
        (
            '[sites."https://a.example:8443"]\ndelay = 5',
            'delay: belongs to the host, whatever its port: [sites."HOST"]',
        ),
        ('[sites."a.example"]\nusr = "x"', "usr: no such setting, did you mean user?"),
        ('[sites."a.example"]\ntypes = ["html"]', 'expected a list of media types such as ["text/html", "text/*"]'),
        ('[sites."a.example"]\ntypes = 5', "expected a list"),
        ('[sites."a.example"]\nnot_before = "2024-13-01"', "expected a day such as 2024-05-31"),
    ],
)
def test_what_cannot_be_meant_is_one_line_with_file_name_and_what_is_expected(
    tmp_path: Path, text: str, message: str
) -> None:
    file = _file(tmp_path, text)
    with pytest.raises(UsageError) as caught:
        load(environ={}, cwd=tmp_path, files=[file])
    assert str(caught.value).startswith(str(file))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert any(message in problem for problem in check_file(file))


def test_an_unknown_or_wrong_variable_is_named(tmp_path: Path) -> None:
    for environ, message in (
        ({"GEOCRAWL_MAXPAGES": "5"}, "GEOCRAWL_MAXPAGES: no such setting, did you mean max_pages?"),
        ({"GEOCRAWL_MAX_PAGES": "many"}, "GEOCRAWL_MAX_PAGES = 'many': expected a whole number"),
        ({"GEOCRAWL_ROBOTS_BODY": "5"}, "GEOCRAWL_ROBOTS_BODY: no longer a setting: 500 KiB of a robots.txt"),
        ({"GEOCRAWL_SITES": "a"}, "from configuration files only"),
    ):
        with pytest.raises(UsageError, match="GEOCRAWL") as caught:
            load(environ=environ, cwd=tmp_path, files=[])
        assert message in str(caught.value)


def test_a_wrong_option_is_named_as_it_was_typed(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"--max-time = '10q': expected a duration"):
        _load(tmp_path, max_time="10q")


def test_checking_a_file_names_all_its_problems(tmp_path: Path) -> None:
    assert len(check_file(_file(tmp_path, "a = 1\nworkers = 0\ndelay = 1\n"))) == 2
    assert check_file(_file(tmp_path, "delay = 1\n")) == []
    assert "no such file" in check_file(tmp_path / "none.toml")[0]
    (tmp_path / "latin.toml").write_bytes(b'contact = "M\xfcller"\n')
    assert "byte 12 is not UTF-8" in check_file(tmp_path / "latin.toml")[0]
    assert "not TOML" in check_file(_file(tmp_path, "\udcff".encode("utf-8", "surrogatepass").decode("latin-1")))[0]


def test_credentials_of_a_proxy_are_refused_as_an_option_and_never_repeated(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="GEOCRAWL_PROXY or a configuration file") as caught:
        _load(tmp_path, proxy="http://ada:hunter2@proxy.example:3128")
    assert "hunter2" not in str(caught.value)
    loaded = load(environ={"GEOCRAWL_PROXY": "http://ada:hunter2@proxy.example:3128"}, cwd=tmp_path, files=[])
    assert loaded.settings.proxy == "http://ada:hunter2@proxy.example:3128"
    assert _load(tmp_path, proxy="http://proxy.example:3128").origins["proxy"] == "option"


@pytest.mark.parametrize(
    "proxy", ["socks4://ada:hunter2@h:1", "ada:hunter2@h:1", "http://ada:/hunter2?@h:1", "//a@hunter2@h"]
)
def test_a_wrong_secret_is_not_repeated_in_the_message(tmp_path: Path, proxy: str) -> None:
    with pytest.raises(UsageError) as caught:
        _load(tmp_path, f'proxy = "{proxy}"')
    assert "hunter2" not in str(caught.value)


def test_a_file_with_a_database_that_cannot_be_meant_is_refused_without_its_password(tmp_path: Path) -> None:
    file = _file(tmp_path, 'db = "host=db user=ada password=hunter2"')
    (problem,) = check_file(file)
    assert problem.startswith(f"{file}: db …: names a server") and "hunter2" not in problem
    with pytest.raises(UsageError, match="has a second @"):
        _load(tmp_path, db="postgresql://ada:1@hunter2@db/x")


def test_a_file_whose_name_only_looks_like_that_of_a_server_may_be_named() -> None:
    for text in ("./host=1.db", "postgres.db", "a/postgresql:x.db", "ghost=1.db"):
        assert database_path(replace(Settings(), db=text), {}) == Path(text)


def test_settings_of_hosts_are_read_and_merged_over_files(tmp_path: Path) -> None:
    near = _file(tmp_path, '[sites."Maps.Example.org"]\nuser = "ada"\nmax_body = "1MiB"\n', "near.toml")
    far = _file(tmp_path, '[sites."maps.example.org"]\nuser = "bob"\npassword = "x"\nproxy = "direct"\n', "far.toml")
    site = load(environ={}, cwd=tmp_path, files=[near, far]).settings.sites["maps.example.org"]
    assert (site.user, site.password, site.max_body_bytes, site.proxy) == ("ada", "x", 1024 * 1024, "direct")


def test_users_and_passwords_may_be_those_of_an_origin(tmp_path: Path) -> None:
    text = '[sites."HTTPS://Maps.Example.org:8443/"]\nuser = "ada"\npassword = "hidden"\n'
    text += '[sites."http://[::1]:80"]\nuser = "b"\n'
    loaded = _load(tmp_path, text)
    assert set(loaded.settings.sites) == {"https://maps.example.org:8443", "http://[::1]"}
    assert loaded.settings.credentials_of("maps.example.org", "https://maps.example.org:8443") == ("ada", "hidden")
    shown = {row.name: row.value for row in rows(loaded)}
    assert shown['sites."https://maps.example.org:8443".password'] == "***"


def test_dates_of_hosts_may_be_toml_dates(tmp_path: Path) -> None:
    loaded = _load(tmp_path, '[sites."a.example"]\nnot_before = 2024-05-31\n')
    assert loaded.settings.sites["a.example"].not_before == "2024-05-31"


def test_types_of_hosts_are_a_list_or_a_text(tmp_path: Path) -> None:
    for text in ('["Text/HTML", "application/*"]', '"text/html, application/*"'):
        loaded = _load(tmp_path, f'[sites."a.example"]\ntypes = {text}\n')
        assert loaded.settings.sites["a.example"].types == ("text/html", "application/*")


def test_constants_of_strategies_are_merged_by_name_over_all_sources(tmp_path: Path) -> None:
    file = _file(tmp_path, '[set]\n"gws.lambda" = 0.5\ngws.drop_zero = true\n"gws.depth" = 4\n')
    environ = {"GEOCRAWL_SET": "gws.lambda=0.6, gws.depth=5"}
    loaded = load({"set": {"gws.lambda": "0.7"}}, environ=environ, cwd=tmp_path, files=[file])
    assert loaded.settings.set == {"gws.lambda": "0.7", "gws.depth": "5", "gws.drop_zero": "true"}
    assert loaded.origins["set.gws.lambda"] == "option"
    assert loaded.origins["set.gws.depth"] == "environment GEOCRAWL_SET"
    assert loaded.origins["set.gws.drop_zero"] == str(file)


def test_shown_values_carry_their_origin_and_no_secret(tmp_path: Path) -> None:
    text = 'proxy = "http://ada:hunter2@p.example:1"\nmax_time = 5400\n[sites."a.example"]\npassword = "hidden"\n'
    shown = {row.name: row for row in rows(_load(tmp_path, text))}
    assert shown["proxy"].value == "http://***@p.example:1"
    assert shown['sites."a.example".password'].value == "***"
    assert (shown["max_time"].value, shown["max_time"].unit) == ("1h30m", "duration")
    assert shown["page_body"].value == "5MiB"
    assert shown["max_time"].origin == str(tmp_path / "geocrawl.toml")
    assert not any("hunter2" in str(row) or "hidden" in str(row) for row in shown.values())


def test_shown_values_can_be_written_into_a_file_again(tmp_path: Path) -> None:
    shown = rows(load(environ={}, cwd=tmp_path, files=[]))
    assert load({row.name: row.value for row in shown}, environ={}, cwd=tmp_path, files=[]).settings == Settings()


def test_lists_have_commas_between_in_the_environment(tmp_path: Path) -> None:
    environ = {"GEOCRAWL_ALLOW": "example.org, .cn"}
    assert load(environ=environ, cwd=tmp_path, files=[]).settings.allow == ("example.org", ".cn")
    with pytest.raises(UsageError, match=r"GEOCRAWL_DENY = '\*': expected a domain"):
        load(environ={"GEOCRAWL_DENY": "a.example,*"}, cwd=tmp_path, files=[])


def test_the_database_is_a_path_or_a_sqlite_url() -> None:
    settings, environ = Settings(), {"HOME": "/home/ada"}
    assert database_path(settings, environ) == Path("/home/ada/.local/share/geocrawl/geocrawl.db")
    assert database_path(settings, {"XDG_DATA_HOME": "/data"}) == Path("/data/geocrawl/geocrawl.db")
    assert database_path(settings, {**environ, "XDG_DATA_HOME": "relative"}) == database_path(settings, environ)
    for text, path in (
        ("a.db", "a.db"),
        ("sqlite:///a.db", "a.db"),
        ("sqlite:////tmp/a.db", "/tmp/a.db"),
        ("~/a.db", "/home/ada/a.db"),
        ("sqlite://", ":memory:"),
    ):
        assert database_path(replace(settings, db=text), environ) == Path(path)


def test_an_empty_home_falls_back_on_the_user_database() -> None:
    path = database_path(Settings(), {"HOME": ""})
    assert isinstance(path, Path) and path.is_absolute()
    assert database_path(Settings(), {}) == database_path(Settings(), {"HOME": ""})


@pytest.mark.parametrize(
    "text",
    [
        "mysql://ada:hunter2@db/x",
        "postgresql://ada:hunter2@db:x/y",
        "postgresql://ada:hunter2@db/",
        "sqlite://a.db",
        "postgresql://ada:1@hunter2@db/x",
        "postgresql://ada:hunter2%@db/x",
        "postgresql:ada:hunter2@db/x",
        "host=db user=ada password=hunter2 dbname=x",
        "dbname = x password = hunter2",
        "Postgres:/ada:hunter2@db/x",
    ],
)
def test_another_engine_is_refused(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        database_path(replace(Settings(), db=text), {"HOME": "/home/ada"})
    assert "hunter2" not in str(caught.value)


def test_a_relative_database_in_a_file_is_meant_from_that_file(tmp_path: Path) -> None:
    settings = _load(tmp_path, 'db = "sqlite:///here.db"').settings
    assert database_path(settings, {}) == tmp_path / "here.db"
    assert _load(tmp_path, 'db = "sqlite://"').settings.db == "sqlite://"
    assert _load(tmp_path, 'db = "/there.db"').settings.db == "/there.db"
    assert _load(tmp_path, db="here.db").settings.db == "here.db"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90),
        ("1.5", 1.5),
        ("500ms", 0.5),
        ("10m", 600),
        ("1h30m", 5400),
        ("1h 30m", 5400),
        ("2D", 172800),
        ("0", 0),
    ],
)
def test_durations_have_units(text: str, seconds: float) -> None:
    assert read_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "m", "10q", "-1", "1m-", "1e5", "nan", "1:30", "m10"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="a duration"):
        read_duration(text)


@pytest.mark.parametrize(
    ("text", "size"), [("500k", 500_000), ("5MiB", 5_242_880), ("5 mb", 5_000_000), ("1.5KiB", 1536)]
)
def test_sizes_have_units(text: str, size: int) -> None:
    assert read_size(text) == size


@given(st.floats(min_value=0, max_value=1e12) | st.integers(min_value=0, max_value=10**12))
def test_a_spelled_duration_reads_back_as_the_same_number(seconds: float) -> None:
    assert read_duration(spell_duration(float(seconds))) == pytest.approx(seconds, rel=1e-12, abs=1e-9)


@given(st.integers(min_value=0, max_value=86400 * 400))
def test_whole_seconds_are_spelled_exactly(seconds: int) -> None:
    assert read_duration(spell_duration(float(seconds))) == seconds


@given(st.integers(min_value=0, max_value=2**50))
def test_a_spelled_size_reads_back_as_the_same_number(size: int) -> None:
    assert read_size(spell_size(size)) == size


@given(st.text(max_size=40))
def test_any_text_is_a_value_or_refused_in_words(text: str) -> None:
    simple = [name for name, setting in settings_by_name().items() if setting.takes != "table"]
    assert not any("\n" in problem for problem in from_options(dict.fromkeys(simple, text)).all_problems())


def test_the_settings_page_is_current() -> None:
    assert settings_page.PAGE.read_text(encoding="utf-8") == settings_page.page(), "python -m scripts.settings_page"


# --------------------------------------------------------------------------- what only this machine can tell

UNUSABLE = [
    ('hours = "22-99"', "hours = '22-99': expected a window"),
    ('hours = "24:30-6"', "hours = '24:30-6': expected a window"),
    ('strategy = "nope"', "unknown strategy 'nope'"),
    ('strategy = "gws:nope"', "unknown preset 'gws:nope'"),
    ('topic = "nope"', "unknown topic 'nope'"),
    ('[set]\n"gws.nonsense" = 1', "unknown option gws.nonsense"),
    ('[set]\n"nonsense" = 1', "unknown option nonsense"),
    ('strategy = "bfs"\n[set]\n"gws.low" = 9', "gws.low=9: expected a number"),
    ('[set]\n"gws.low" = 0.9\n"gws.high" = 0.1', "gws.low=0.9 is above"),
    ('mail_server = "a b:99999"', "mail_server = 'a b:99999': expected a host"),
    ('mail_server = "mail.example.org:0"', "expected a host"),
    ('mail_from = "not a mail"', "mail_from = 'not a mail': expected a mail address such as"),
    ('mail_from = "Maps <maps>"', "expected a mail address such as"),
    ('contact = "the map desk"', "contact = 'the map desk': expected a URL such as"),
    ('contact = "ftp://example.org"', "expected a URL such as"),
    ('base_map = "https://t.example/{z}/{x}.png"', "expected an address with {z}, {x} and {y} in its path"),
    ('base_map = "ftp://t.example/{z}/{x}/{y}"', "expected an address with {z}, {x} and {y} in its path"),
    ('browser_path = "/nope"', "/nope is not a program"),
    ('stop_rules = "nope.toml"', "cannot be read"),
    ('log_file = "nope/x.log"', "nope does not exist"),
    ('log_file = "."', "is a folder"),
    ('metrics_file = "nope/x.prom"', "nope does not exist"),
    ('csw_python = "/nope"', "/nope is not a program"),
    ('db = "."', "is a folder"),
]


@pytest.mark.parametrize(("text", "message"), UNUSABLE)
def test_what_no_start_would_accept_is_no_valid_file(tmp_path: Path, text: str, message: str) -> None:
    problems = check_file(_file(tmp_path, text))
    assert len(problems) == 1 and message in problems[0] and problems[0].startswith(str(tmp_path / "geocrawl.toml"))


@pytest.mark.parametrize(("text", "message"), UNUSABLE)
def test_what_the_check_accepts_a_start_accepts(tmp_path: Path, text: str, message: str) -> None:
    if text.startswith(("metrics_file", "csw_python")):
        return  # of single commands
    with pytest.raises(GeocrawlError, match=re.escape(message)):
        demand_usable(_load(tmp_path, text).settings)
    demand_usable(_load(tmp_path, 'hours = "22-6"\nmail_server = "mail_relay:25"').settings)


@pytest.mark.parametrize(
    "text",
    [
        'mail_from = "Karten, 地图 <maps@example.org>"',
        'mail_from = "geocrawl@localhost"',
        'contact = "mailto:maps@example.org"',
        'contact = "https://example.org/maps (maps@example.org)"',
        'base_map = "https://tiles.example.org/{z}/{x}/{-y}.png?key=a"',
    ],
)
def test_addresses_are_taken_in_the_forms_that_people_write(tmp_path: Path, text: str) -> None:
    assert check_file(_file(tmp_path, text)) == []
    demand_usable(_load(tmp_path, text).settings)


def test_the_settings_in_use_are_checked_in_the_same_way(tmp_path: Path) -> None:
    findings, _ = check_settings({}, {"GEOCRAWL_STRATEGY": "nope", "HOME": str(tmp_path)}, tmp_path)
    problems = [finding.text for finding in findings]
    assert problems == [problem for problem in problems if problem.startswith("environment GEOCRAWL_STRATEGY: ")] != []


def test_settings_that_a_run_does_not_use_are_named() -> None:
    assert without_effect(Settings(), "daemon") == without_effect(Settings(), "crawl") == []
    changed = Settings(processes=2, hours="22-6", workers=9, ignore_robots=True)
    assert without_effect(changed, "daemon") == ["processes", "ignore_robots"]
    assert without_effect(changed, "crawl") == ["ignore_robots", "hours"]


def test_settings_that_no_reload_changes_are_named() -> None:
    assert kept_at_reload(Settings(), Settings(db="other.db", log_file="x", workers=9)) == ["db", "log_file"]
