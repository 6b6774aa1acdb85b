package accept

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/localhost"
	"github.com/firstlight/firstlight/internal/probe/ssh"
)

// stored is a run of a machine in an evidence directory.
type stored struct {
	age    time.Duration
	header evidence.Header
	recipe string
	gates  []string
	// verdicts are the gates that passed; open: the run is not finished.
	verdicts []string
	// failed are those of verdicts that failed.
	failed []string
	open   bool
	// begun is a gate without a verdict.
	begun string
	// unknown: it did not identify its cluster.
	unknown bool
	// another: it was created in another directory.
	another bool
	// as is the name of its directory, if another than its ID.
	as string
}

// store stores a run that began before day, and returns its directory.
func store(t *testing.T, dir string, r stored) string {
	t.Helper()
	o := options(t, dir, planOf(r.gates...))
	p, err := o.Playbook(PlanContext{Include: r.header.Include})
	if err != nil {
		t.Fatal(err)
	}
	r.header.Site, r.header.Profile = o.Site.Name, o.Profile.Name
	if r.header.Cluster == "" && !r.unknown {
		r.header.Cluster = "machine-0123"
	}
	in := dir
	if r.another {
		in = t.TempDir()
	}
	began := day.Add(-r.age)
	run, err := evidence.Create(in, evidence.Start{Header: r.header, Plan: p, Site: o.SiteFile, Profile: o.ProfileFile, Recipe: []byte(r.recipe)}, evidence.Options{Clock: at(began)})
	if err != nil {
		t.Fatal(err)
	}
	for _, gate := range r.verdicts {
		attempt, err := run.Begin(gate, began)
		if err != nil {
			t.Fatal(err)
		}
		o, err := run.Record(attempt, check.Observation{Check: gate, Kind: "look", Target: gate, At: began})
		if err != nil {
			t.Fatal(err)
		}
		j := check.Pass("seen")
		if slices.Contains(r.failed, gate) {
			j = check.Fail("broken")
		}
		if err := run.Conclude(plan.Result{Step: gate, At: began, Attempt: attempt, Observations: []string{o.ID}, Judgement: j}); err != nil {
			t.Fatal(err)
		}
	}
	if r.begun != "" {
		if _, err := run.Begin(r.begun, began); err != nil {
			t.Fatal(err)
		}
	}
	if r.open {
		err = run.Close()
	} else {
		err = run.Finish(plan.Outcome{Verdict: check.Passed}, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, run.ID())
	if r.as != "" {
		path = filepath.Join(dir, r.as)
	}
	if path != run.Dir() {
		if err := os.Rename(run.Dir(), path); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// executionOn is an execution on a machine, at day, with its notes.
func executionOn(t *testing.T, dir string, gates []string, change func(*Options)) (*execution, *[]string) {
	t.Helper()
	o := options(t, dir, planOf(gates...))
	o.Cluster, o.Clock = nil, at(day)
	o.Machine = func() (localhost.Machine, error) { return localhost.Machine{ID: "0123"}, nil }
	notes := &[]string{}
	o.Note = func(text string) { *notes = append(*notes, text) }
	if change != nil {
		change(&o)
	}
	x, err := newExecution(o)
	if err != nil {
		t.Fatal(err)
	}
	return x, notes
}

// The newest run is resumed if it was killed and its verdicts are valid for the options: by itself, if
// nothing else is asked for, and by its name. Otherwise a new run begins, and what the killed one left
// is removed.
func TestWhichRunIsResumed(t *testing.T) {
	t.Parallel()
	gates := []string{"a", "b"}
	open := stored{age: time.Hour, gates: gates, verdicts: []string{"a"}, open: true}
	with := func(r stored, change func(*stored)) stored { change(&r); return r }
	only := with(open, func(r *stored) { r.header.Only = "a" })
	killed := with(open, func(r *stored) { r.begun = "b" })
	anotherUser := func(o *Options) {
		o.SiteFile = bytes.Replace(o.SiteFile, []byte("user: root"), []byte("user: another"), 1)
	}
	finished := with(open, func(r *stored) { r.open, r.verdicts = false, gates })
	included := with(open, func(r *stored) { r.header.Include = []string{"chain"} })
	const id = "ID" // of the first run
	for name, tt := range map[string]struct {
		runs    []stored
		options func(*Options)
		// resumed: the first run is; refused and noted are texts.
		resumed        bool
		refused, noted string
		// left: the objects of the first run are removed.
		left bool
	}{
		"no run":                       {nil, nil, false, "", "", false},
		"killed":                       {[]stored{open}, nil, true, "", "", false},
		"finished":                     {[]stored{finished}, nil, false, "", "", false},
		"killed, then another":         {[]stored{open, with(finished, func(r *stored) { r.age = time.Minute })}, nil, false, "", "", false},
		"a fresh one is wanted":        {[]stored{open}, func(o *Options) { o.Fresh = true }, false, "", "", true},
		"another first gate is wanted": {[]stored{open}, func(o *Options) { o.From = "b" }, false, "", "", true},
		"one gate is wanted":           {[]stored{open}, func(o *Options) { o.Only = "b" }, false, "", "", true},
		"of one gate alone":            {[]stored{only}, nil, false, "", "run ID is unfinished, but not resumed: run ID is of a alone: resume it with --resume ID", true},
		"of other checks":              {[]stored{with(open, func(r *stored) { r.gates = gates[:1] })}, nil, false, "", "the verdicts of run ID are not valid for this run: checks: a then, a, b now", true},
		"of another machine":           {[]stored{with(open, func(r *stored) { r.header.Cluster = "machine-4567" })}, nil, false, "", "machine: machine-4567 then", true},
		"with an included check":       {[]stored{included}, nil, true, "", "", false},
		"with the included check":      {[]stored{included}, func(o *Options) { o.Include = []string{"chain"} }, true, "", "", false},
		"without the included check":   {[]stored{open}, func(o *Options) { o.Include = []string{"chain"} }, false, "", "checks: a, b then, a, b, chain now", true},
		"in its namespace":             {[]stored{with(open, func(r *stored) { r.header.Namespace = "n" })}, func(o *Options) { o.Namespace = "n" }, true, "", "", false},
		"in another namespace":         {[]stored{with(open, func(r *stored) { r.header.Namespace = "n" })}, func(o *Options) { o.Namespace = "m" }, false, "", "run ID is not of namespace m", true},
		"copied":                       {[]stored{with(open, func(r *stored) { r.another = true })}, nil, false, "", "run ID is ignored: it was not created in this directory", false},
		"latest":                       {[]stored{open}, func(o *Options) { o.Resume = "latest" }, true, "", "", false},
		"latest, of one gate":          {[]stored{only}, func(o *Options) { o.Resume = "latest" }, true, "", "", false},
		"latest, none":                 {nil, func(o *Options) { o.Resume = "latest" }, false, "unfinished run not found in DIR", "", false},
		"latest, finished":             {[]stored{finished}, func(o *Options) { o.Resume = "latest" }, false, "unfinished run not found in DIR", "", false},
		"latest, of other checks":      {[]stored{with(open, func(r *stored) { r.gates = gates[:1] })}, func(o *Options) { o.Resume = "latest" }, false, "checks: a then, a, b now", "", false},
		"by name":                      {[]stored{open}, func(o *Options) { o.Resume = id }, true, "", "", false},
		"by name, of one gate":         {[]stored{only}, func(o *Options) { o.Resume = id }, true, "", "", false},
		"by name, copied":              {[]stored{with(open, func(r *stored) { r.another = true })}, func(o *Options) { o.Resume = id }, true, "", "", false},
		"by name, none":                {nil, func(o *Options) { o.Resume = "20261122" }, false, "run 20261122 not found in DIR", "", false},
		"by name, finished":            {[]stored{finished}, func(o *Options) { o.Resume = id }, false, "run ID is finished: read it with firstlight evidence show", "", false},
		"by name, of the future":       {[]stored{with(open, func(r *stored) { r.age = -time.Hour })}, func(o *Options) { o.Resume = id }, false, "run ID is of a time in the future", "", false},
		"by name, renamed":             {[]stored{with(open, func(r *stored) { r.as = "20261122T000000Z-aaaaaa" })}, func(o *Options) { o.Resume = id }, false, "has run.json of run ", "", false},
		"by name, of other checks":     {[]stored{with(open, func(r *stored) { r.gates = gates[:1] })}, func(o *Options) { o.Resume = id }, false, "checks: a then, a, b now", "", false},
		"by name, old":                 {[]stored{with(open, func(r *stored) { r.age = 169 * time.Hour })}, func(o *Options) { o.Resume = id }, false, "a is of 2026-11-15T02:04:05Z, 169h0m0s ago", "", false},
		// Regression: the observations of a killed gate were judged with the site file of the next start.
		"killed in a gate":                        {[]stored{killed}, nil, true, "", "", false},
		"killed in a gate, a comment":             {[]stored{killed}, func(o *Options) { o.SiteFile = append([]byte("# a comment\n"), o.SiteFile...) }, true, "", "", false},
		"killed in a gate, another user":          {[]stored{killed}, anotherUser, false, "", "run ID was killed during b, and the site file was changed since: site reach.ssh.user:", true},
		"by name, killed in a gate, another user": {[]stored{killed}, func(o *Options) { anotherUser(o); o.Resume = id }, false, "resume it with the former site file (", "", false},
		"killed between gates, another user":      {[]stored{open}, anotherUser, true, "", "", false},
		"two checks of one name":                  {[]stored{open}, func(o *Options) { o.Playbook = planOf("a", "a") }, false, "", "run ID is unfinished, but not resumed", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			var paths []string
			for _, r := range tt.runs {
				paths = append(paths, store(t, dir, r))
			}
			first, run := "", ""
			if len(paths) > 0 {
				first, run = paths[0], filepath.Base(paths[0])
			}
			named := func(text string) string { return strings.NewReplacer(id, run, "DIR", dir).Replace(text) }
			x, notes := executionOn(t, dir, gates, tt.options)
			x.opts.Resume = named(x.opts.Resume)
			path, err := x.toResume(t.Context())
			_, refused := errors.AsType[*InputError](err)
			switch {
			case tt.refused == "" && err != nil, tt.refused != "" && (!refused || !strings.Contains(err.Error(), named(tt.refused))):
				t.Errorf("refused: %v, want %q", err, named(tt.refused))
			case tt.refused == "" && (path == first && path != "") != tt.resumed, tt.refused == "" && !tt.resumed && path != "":
				t.Errorf("resumed: %q", path)
			}
			if said := strings.Join(*notes, "\n"); (tt.noted == "") != (said == "") || !strings.Contains(said, named(tt.noted)) {
				t.Errorf("noted: %q, want %q", said, named(tt.noted))
			}
			if len(x.killed) > 0 || len(x.leftJobs) > 0 {
				t.Errorf("without a cluster nothing is left: %+v %q", x.killed, x.leftJobs)
			}
			x.opts.Cluster, x.opts.Machine, x.opts.Slurm = unreachable, nil, func(context.Context, ...string) (ssh.Output, error) { return ssh.Output{}, nil }
			if tt.resumed || tt.refused != "" || tt.noted != "" && strings.Contains(tt.noted, "checks") {
				return
			}
			if _, err := x.toResume(t.Context()); err != nil {
				t.Fatal(err)
			}
			var want []string
			if tt.left {
				want = []string{run}
			}
			if !slices.Equal(x.leftJobs, want) || len(x.killed) != len(want) || tt.left && x.killed[0].id != run {
				t.Errorf("left: %+v %q, want %q", x.killed, x.leftJobs, want)
			}
		})
	}
}

// The verdicts before a gate are kept of the newest finished run of the whole playbook, created in this
// directory, that has them and is valid for the options.
func TestWhichRunsVerdictsAreKept(t *testing.T) {
	t.Parallel()
	gates := []string{"a", "b", "c"}
	whole := stored{age: time.Hour, gates: gates, verdicts: gates}
	with := func(r stored, change func(*stored)) stored { change(&r); return r }
	newer := func(change func(*stored)) stored {
		return with(whole, func(r *stored) { r.age = time.Minute; change(r) })
	}
	for name, tt := range map[string]struct {
		runs  []stored
		from  string
		kept  int // the index of the run; -1: none
		noted string
	}{
		"one run":                 {[]stored{whole}, "c", 0, ""},
		"the newer of two":        {[]stored{whole, newer(func(*stored) {})}, "c", 1, ""},
		"a newer unfinished one":  {[]stored{whole, newer(func(r *stored) { r.open = true })}, "c", 0, ""},
		"a newer one of one gate": {[]stored{whole, newer(func(r *stored) { r.header.Only = "a" })}, "c", 0, ""},
		"a newer one of others":   {[]stored{whole, newer(func(r *stored) { r.gates, r.verdicts = []string{"a", "c"}, nil })}, "c", 0, ""},
		"a newer one with those":  {[]stored{whole, newer(func(r *stored) { r.gates, r.verdicts = []string{"a", "b"}, nil })}, "c", 1, ""},
		"a newer copied one":      {[]stored{whole, newer(func(r *stored) { r.another = true })}, "c", 0, "no verdict of run ID is kept: it was not created in this directory"},
		"a newer one elsewhere":   {[]stored{whole, newer(func(r *stored) { r.header.Cluster = "machine-4567" })}, "c", 0, "run ID is skipped: the verdicts of run ID are not valid for this run: machine: machine-4567 then"},
		// Regression: an older pass was kept although the newest observation of the gate was a failure.
		"a newer one of one gate that failed": {[]stored{whole, newer(func(r *stored) { r.header.Only, r.verdicts, r.failed = "a", []string{"a"}, []string{"a"} })}, "c", -1, "a was passed, and is failed in the newer run ID: run it again (--from a)"},
		"a newer one with another allowance that failed": {
			[]stored{whole, newer(func(r *stored) { r.header.AllowFailed, r.failed = 1, []string{"b"} })}, "c", -1, "b was passed, and is failed in the newer run ID",
		},
		"a newer killed one that failed":          {[]stored{whole, newer(func(r *stored) { r.open, r.failed = true, []string{"a"} })}, "c", -1, "a was passed, and is failed in the newer run ID"},
		"a newer one of an unknown cluster":       {[]stored{whole, newer(func(r *stored) { r.unknown, r.failed = true, []string{"a"} })}, "c", -1, "a was passed, and is failed in the newer run ID"},
		"an older one that failed":                {[]stored{newer(func(*stored) {}), with(whole, func(r *stored) { r.failed = []string{"a"} })}, "c", 0, ""},
		"a newer one whose later gate failed":     {[]stored{whole, newer(func(r *stored) { r.header.Only, r.failed = "c", []string{"c"} })}, "c", 0, ""},
		"a newer one elsewhere that failed":       {[]stored{whole, newer(func(r *stored) { r.header.Cluster, r.failed = "machine-4567", []string{"a"} })}, "c", 0, "machine: machine-4567 then"},
		"a newer one of another plan that failed": {[]stored{whole, newer(func(r *stored) { r.gates, r.verdicts, r.failed = []string{"a", "c"}, []string{"a"}, []string{"a"} })}, "c", 0, ""},
		// Regression: a failed validation of one recipe refuted the verdicts of another.
		"a newer one of another recipe that failed": {[]stored{whole, newer(func(r *stored) { r.recipe, r.failed = "driver: 580\n", []string{"a"} })}, "c", 0, "recipe driver: 580 then, nothing now"},
		"only unfinished ones":                      {[]stored{with(whole, func(r *stored) { r.open = true })}, "c", -1, ""},
		"only old ones":                             {[]stored{with(whole, func(r *stored) { r.age = 169 * time.Hour })}, "b", -1, "run ID is skipped"},
		"no run":                                    {nil, "b", -1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			var ids []string
			for _, r := range tt.runs {
				ids = append(ids, filepath.Base(store(t, dir, r)))
			}
			x, notes := executionOn(t, dir, gates, func(o *Options) { o.From = tt.from })
			p, err := x.opts.Playbook(PlanContext{})
			if err != nil {
				t.Fatal(err)
			}
			b, keep, err := x.before(t.Context(), p)
			if tt.kept < 0 {
				if _, refused := errors.AsType[*InputError](err); !refused || b != nil || keep != nil {
					t.Errorf("%+v, %q, %v", b, keep, err)
				}
			} else if err != nil || b.Header.Run != ids[tt.kept] || !slices.Equal(keep, gates[:slices.Index(gates, tt.from)]) {
				t.Errorf("%+v, %q, %v", b, keep, err)
			}
			want := tt.noted
			if len(ids) > 0 {
				want = strings.ReplaceAll(want, "ID", ids[len(ids)-1])
			}
			if said := strings.Join(*notes, "\n"); (said == "") != (want == "") || !strings.Contains(said, want) {
				t.Errorf("noted: %q, want %q", said, want)
			}
		})
	}
	for _, from := range []string{"a", "unknown"} { // no gate is before it
		x, _ := executionOn(t, t.TempDir(), gates, func(o *Options) { o.From = from })
		p, err := x.opts.Playbook(PlanContext{})
		if err != nil {
			t.Fatal(err)
		}
		if b, keep, err := x.before(t.Context(), p); b != nil || keep != nil || err != nil {
			t.Errorf("from %s: %+v, %q, %v", from, b, keep, err)
		}
	}
}

// A new run records its options, and what it keeps; a resumed one keeps its own selection.
func TestRunsAreOpened(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	gates := []string{"a", "b"}
	earlier := store(t, dir, stored{age: time.Hour, gates: gates, verdicts: gates})
	x, _ := executionOn(t, dir, gates, func(o *Options) {
		o.Hosts, o.Tool, o.Command, o.Recipe, o.RecipeFile = map[string]string{}, "v1", []string{"accept"}, "R", nil
		o.From, o.AddedTo, o.Soak, o.Versions, o.Namespace = "b", "S", "T", map[string]string{"x": "1"}, "n"
	})
	if err := x.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	h := x.run.Header()
	want := evidence.Header{
		Format: h.Format, Run: h.Run, Created: day, Tool: "v1", Command: []string{"accept"}, Site: x.opts.Site.Name, Profile: x.opts.Profile.Name, Recipe: "R",
		From: "b", AddedTo: "S", Soak: "T", Versions: map[string]string{"x": "1"}, Namespace: "n", Hosts: map[string]string{},
	}
	if diff := cmp.Diff(want, h); diff != "" || x.resumed || len(x.earlier) != 1 || x.earlier["a"].KeptFrom != filepath.Base(earlier) {
		t.Errorf("%s %+v", diff, x.earlier)
	}
	if err := x.run.Close(); err != nil {
		t.Fatal(err)
	}
	again, notes := executionOn(t, dir, gates, func(o *Options) { o.Resume, o.Cluster = h.Run, unreachable })
	if err := again.reopen(filepath.Join(dir, h.Run)); err != nil {
		t.Fatal(err)
	}
	if !again.resumed || again.from != "b" || again.namespace != "n" || again.only != "" || again.include != nil || len(again.earlier) != 1 || !again.created.Load() ||
		!slices.Equal(again.killed, []leftRun{{h.Run, "n"}}) || !slices.Equal(*notes, []string{"resuming run " + h.Run + ": 1 gates have a verdict (a new run: --fresh)"}) {
		t.Errorf("%+v %q", again.killed, *notes)
	}
	if err := again.run.Close(); err != nil {
		t.Fatal(err)
	}
	if err := again.reopen(earlier); !errors.Is(err, evidence.ErrFinished) {
		t.Errorf("a finished run: %v", err)
	}
	x.opts.EvidenceDir = filepath.Join(earlier, "run.json")
	for _, from := range []string{"", "b"} {
		if x.opts.From = from; x.create(t.Context()) == nil {
			t.Error("a run is created in a file")
		}
	}
}

// An evidence directory that cannot be listed is an error: no run is resumed, and none begins.
func TestAnEvidenceDirectoryThatCannotBeListed(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, resume := range []string{"", "latest"} {
		x, _ := executionOn(t, file, []string{"a"}, func(o *Options) { o.Resume = resume })
		path, err := x.toResume(t.Context())
		if _, refused := errors.AsType[*InputError](err); err == nil || refused || path != "" {
			t.Errorf("--resume %q: %q, %v", resume, path, err)
		}
		if err := x.open(t.Context()); err == nil || x.run != nil || strings.Contains(err.Error(), "start a run") {
			t.Errorf("--resume %q: opened, %v", resume, err)
		}
	}
	o := options(t, t.TempDir(), planOf("a"))
	b := &evidence.Bundle{Site: o.SiteFile, Profile: o.ProfileFile, Inputs: map[string][]byte{"validation.json": []byte("{")}}
	if s, p, err := Used(b); err != nil || s.Name != o.Site.Name || p.Name != o.Profile.Name {
		t.Errorf("an input that is not a profile: %v", err)
	}
}
