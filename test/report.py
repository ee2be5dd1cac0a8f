"""report.py: what minilink tells of a link holds together; its page works in a browser.

    report.py data FILE.json [trace]     --report's data, and --time-trace's: exits 1 and says what is wrong
    report.py all FILE.json...           the same of many reports
    report.py same FILE.html FILE.json   the page holds that data
    report.py page FILE.html             needs Chromium (browser.py); a line for each thing that was tried
"""
import json
import re
import sys

faults = []


def check(ok, what):
    if not ok:
        faults.append(what)
    return ok


def check_report(data):
    """Every number names something, and what is given twice agrees."""
    functions, members, chunks = data["functions"], data["members"], data["chunks"]
    rows, slices = data["time_line"]["rows"], data["time_line"]["slices"]
    check(data["format"] == 1, "format")
    names = [stage["name"] for stage in data["stages"]]
    check(names[:2] == ["open", "select"], "stages %s" % names)
    at = 0
    for stage in data["stages"]:
        check(abs(stage["start"] - at) < 0.5 and stage["ms"] >= 0 and stage["peak_memory"] > 0, "stage %s" % stage)
        at = stage["start"] + stage["ms"]
    for function in functions:
        check(function["name"] and function["code"] >= 0 and function["registers"] >= 0, "function %s" % function)
        check(function.get("member", 0) < len(members) and function.get("chunk", 0) < max(1, len(chunks)), "place of %s" % function["name"])
        for call in function["calls"] + function.get("may_call", []):
            check(call < len(functions), "call of %s" % function["name"])
        check(not function["is_kernel"] or "shared" in function, "kernel %s" % function["name"])
    for number, chunk in enumerate(chunks):
        for kernel in chunk["kernels"]:
            check(functions[kernel]["is_kernel"] and functions[kernel]["chunk"] == number, "kernel of chunk %d" % number)
        check(chunk["functions"] >= len(chunk["kernels"]) and chunk["ptx_bytes"] > 0, "chunk %d" % number)
        if "assembler" in data:
            own = [s for s in slices if s["kind"] == "chunk" and s["chunk"] == number]
            apart = any(s["kind"] == "jobs" for s in slices)
            check(apart or len(own) == 1 and abs(own[0]["ms"] - chunk["ms"]) < 50, "slice of chunk %d" % number)
    if chunks and "assembler" in data:
        check(abs(sum(c["estimate"] for c in chunks) - sum(c["ms"] for c in chunks)) < 0.01, "estimates and times")
    for one in slices:
        check(one["row"] < len(rows) and one["ms"] >= 0 and one["start"] >= 0, "slice %s" % one)
    sizes = {}
    for section in data["sections"]:
        check(section["bytes"] >= 0 and section["for"], "section %s" % section)
        for piece in section.get("pieces", []):
            check(piece["bytes"] <= section["bytes"], "piece of %s" % section["name"])
            if "offset" in section:
                key = piece["member"], section["for"]
                sizes[key] = sizes.get(key, 0) + piece["bytes"]
    for number, member in enumerate(members):
        for name, size in member.get("output_bytes", {}).items():
            check(sizes.get((number, name)) == size, "%s of %s: %s" % (name, member["name"], size))
    if "bytes" in data["output"]:
        check(sum(sizes.values()) <= data["output"]["bytes"], "members have more bytes than the output")
    for option in data["options"]:
        values = [m.get("value") for m in option["members"]]
        state = option["state"]
        check(state in ("none", "absent", "present", "mixed", "conflict"), "state %s" % state)
        check(state != "absent" or not any(v is not None for v in values), "absent %s" % option["name"])
        check(state != "present" or len(set(values)) == 1, "present %s" % option["name"])
    for drop in data["left_out"]:
        check(drop["what"] in ("member", "kernel", "function", "variable") and drop["name"] and drop["why"], "left out %s" % drop)


def check_trace(trace):
    """Slices of a row nest, as readers of the format want it; counters never fall below nothing."""
    rows, names = {}, {}
    for event in trace["traceEvents"]:
        check(event["ph"] in "XCM" and event["pid"] == 1 and event["tid"] >= 0 and event["name"], "event %s" % event)
        if event["ph"] == "X":
            check(event["dur"] >= 0 and event["ts"] >= 0 and event["cat"], "slice %s" % event)
            rows.setdefault(event["tid"], []).append(event)
        if event["ph"] == "M" and event["name"] == "thread_name":
            names[event["tid"]] = event["args"]["name"]
        if event["ph"] == "C":
            check(0 <= event["args"][event["name"]] < 2 ** 48, "counter %s" % event)
    for row, events in rows.items():
        check(row in names, "row %s has no name" % row)
        open_until = []
        for event in sorted(events, key=lambda e: (e["ts"], -e["dur"])):
            while open_until and open_until[-1] <= event["ts"] + 0.001:
                open_until.pop()
            check(not open_until or event["ts"] + event["dur"] <= open_until[-1] + 0.001, "slices overlap in %s: %s" % (names.get(row), event))
            open_until.append(event["ts"] + event["dur"])
    for event in (e for row in rows.values() for e in row if e["cat"] == "chunk"):
        args = event["args"]
        check(isinstance(args["kernels"], list) and args["bytes"] > 0 and args["estimate ms"] >= 0 and args["cubin bytes"] > 0, "chunk %s" % event)
    check(names.get(0) == "link", "the first row is the link's")


def page_data(text):
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    return json.loads(found.group(1))


def report(what, ok):
    print(("passed" if ok else "failed") + ": " + what, flush=True)


def column(page, table, key):
    """The cells of a column, as text."""
    return page.value("""(() => { const box = document.getElementById(%s), heads = [...box.querySelectorAll("thead th")];
        const at = heads.findIndex((h) => h.dataset.key === %s);
        return [...box.querySelectorAll("tbody tr")].map((row) => row.children[at].textContent); })()""" % (json.dumps(table), json.dumps(key)))


def numbers(texts):
    return [int(text.replace(",", "")) for text in texts]


def try_page(path, data):
    from browser import Browser
    kernels = [f for f in data["functions"] if f["is_kernel"]]
    with Browser() as browser:
        page = browser.open(path)
        report("the page is drawn", page.value("document.documentElement.hasAttribute('data-ready')"))
        report("it names the output", page.value("document.getElementById('title').textContent") == data["output"]["path"])
        report("each kernel has a row", len(column(page, "functions", "name")) == min(len(kernels), 300))
        page.click('#functions th[data-key="registers"] button')
        shown = numbers(column(page, "functions", "registers"))
        report("a click on a heading sorts, the largest first", shown == sorted((k["registers"] for k in kernels), reverse=True))
        page.click('#functions th[data-key="registers"] button')
        report("another one turns it round", numbers(column(page, "functions", "registers")) == shown[::-1])
        report("which a reader is told", page.value("document.querySelector('#functions th[data-key=registers]').ariaSort") == "ascending")
        report("and the address remembers", "sort-kernels=registers" in page.value("location.hash"))
        page.click("#with-functions")
        report("device functions can be shown", len(column(page, "functions", "name")) == min(len(data["functions"]), 300))
        page.type("#filter", kernels[0]["name"][:6])
        wanted = [f for f in data["functions"] if any(kernels[0]["name"][:6].lower() in (f.get(k) or "").lower() for k in ("name", "readable"))
                  or kernels[0]["name"][:6].lower() in (data["members"][f["member"]]["name"].lower() if "member" in f else "")]
        total = len(data["functions"])
        found = "" if len(wanted) == total else "%s of %s" % (format(len(wanted), ","), format(total, ","))
        report("which are counted", page.value("document.getElementById('found').textContent") == found)
        report("a filter leaves what has the text", len(column(page, "functions", "name")) == min(len(wanted), 300))
        caller = max(range(len(data["functions"])), key=lambda i: len(data["functions"][i]["calls"]) * 2 + data["functions"][i]["is_kernel"])
        chosen = browser.open(path, "#all=1&kernel=" + data["functions"][caller]["name"].replace("&", "%26").replace("<", "%3C"))
        nodes = chosen.value("document.querySelectorAll('#graph .node').length")
        report("a chosen function has its calls drawn", nodes >= 1 + len(set(data["functions"][caller]["calls"]) - {caller}))
        if nodes > 1:
            chosen.click("#graph .node:not(.center)")
            report("a click in the graph goes on to that one", chosen.value("document.querySelectorAll('#graph .node.center').length") == 1
                   and "kernel=" in chosen.value("location.hash"))
        page.drag("#time-line svg", 0.3, 0.6)
        report("dragging over the time line looks nearer", " to " in page.value("document.getElementById('range').textContent"))
        page.click("#zoom-all")
        report("and a button shows all of it", page.value("document.getElementById('range').textContent") == "")
        fresh = browser.open(path)
        if data["chunks"]:
            fresh.click("#chunks-box summary")
            fresh.click("#chunks tbody tr")
            report("a chosen chunk's kernels are shown alone", column(fresh, "functions", "name") and
                   len(column(fresh, "functions", "name")) == len(data["chunks"][0]["kernels"]) and set(column(fresh, "functions", "chunk")) == {"0"})
        dark = browser.open(path, dark=True)
        ground = "getComputedStyle(document.body).backgroundColor"
        report("dark where the reader wants it dark", dark.value(ground) != page.value(ground))
        narrow = browser.open(path, width=420, height=800)
        report("nothing is cut off on a narrow screen", narrow.value("document.documentElement.scrollWidth") <= 420)
        opened = [page, chosen, fresh, dark, narrow]
        report("no fault, no message, no request", not any(one.faults for one in opened))
        for one in opened:
            for fault in one.faults:
                print("    " + fault)
        report("no name became part of the page", page.value("window.harmed === undefined && document.querySelectorAll('img, main script').length === 0"))


def main(command, path, *more):
    if command == "data":
        check_report(json.load(open(path)))
        for trace in more:
            check_trace(json.load(open(trace)))
    elif command == "all":
        for one in [path] + list(more):
            before = len(faults)
            check_report(json.load(open(one)))
            faults[before:] = [one + ": " + fault for fault in faults[before:]]
    elif command == "same":
        shown, data = page_data(open(path).read()), json.load(open(more[0]))
        check(shown == data, "the page and the data differ")
    else:
        try_page(path, page_data(open(path).read()))
    for fault in faults[:20]:
        print("wrong: " + fault)
    return 1 if faults else 0


sys.exit(main(*sys.argv[1:]))
