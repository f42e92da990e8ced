"""``kernlearn list`` and ``datasets``."""

from tests.datasets import serving

server = serving.server

ROWS = "a,b,kind\n" + "".join(f"{i / 7:.3f},{i % 5},{'xy'[i % 2]}\n" for i in range(40))


def test_list_names_what_a_config_can_use(kernlearn):
    out = kernlearn("list", COLUMNS="80")
    for name in ("table3_1", "nursery", "two_moons", "exponential", "MaclaurinSVM", "accuracy"):
        assert f" {name}," in out.stdout
    assert len(out.stdout.splitlines()) <= 80
    assert max(map(len, out.stdout.splitlines())) <= 80
    described = kernlearn("list", "metrics").stdout.splitlines()
    assert any(line.startswith("accuracy  ") for line in described)


def test_a_file_becomes_a_card(kernlearn, tmp_path):
    (tmp_path / "mine.csv").write_text(ROWS)
    options = ("--name", "mine", "--target", "kind", "-o", "drop=b")
    out = kernlearn("datasets", "add", "mine.csv", *options)
    assert "In a config: datasets: [mine]" in out.stdout
    info = kernlearn("datasets", "info", "mine")
    assert "40 x 1" in info.stdout
    assert "mine " in kernlearn("datasets", "list").stdout
    (tmp_path / "my.yaml").write_text(
        "title: Mine\ndatasets: [mine]\nmethods: {k-NN: {estimator: KNeighborsClassifier}}\n"
        "protocol: {splits: 1}\nmetrics: [accuracy]\n"
    )
    kernlearn("run", "my.yaml")


def test_data_that_is_not_here_is_fetched_and_changed_data_is_named(kernlearn, tmp_path, server):
    server.answers["/good.csv"] = ROWS.encode()
    (tmp_path / "mine.csv").write_text(ROWS)
    kernlearn("datasets", "add", "mine.csv", "--name", "mine", "--folder", "cards")
    (tmp_path / "mine.csv").unlink()
    (tmp_path / "cards/mine/mine.csv").unlink()
    card = tmp_path / "cards/mine.yaml"
    publisher = "publisher: the user"
    downloads = f"{publisher}, downloads: {{mine.csv: '{server.url('/good.csv')}'}}"
    card.write_text(card.read_text().replace(publisher, downloads))
    assert "missing" in kernlearn("datasets", "info", card).stdout
    out = kernlearn("datasets", "fetch", card, "--into", "got")
    assert "mine: got/mine/mine.csv" in out.stdout
    here = {"KERNLEARN_DATA": str(tmp_path / "got")}
    kernlearn("datasets", "info", card, **here)
    (data,) = (tmp_path / "got").rglob("*.csv")
    data.write_text(ROWS.replace("0.143", "0.144"))
    changed = kernlearn("datasets", "info", card, **here, code=1)
    assert "differs" in changed.stdout
    card.write_text(card.read_text().replace("good.csv", "bad.csv"))
    kernlearn("datasets", "fetch", card, "--into", "again", code=2)
