package certificate_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/certificate"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/evidence/attest"
	"github.com/firstlight/firstlight/internal/evidence/evidencetest"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
	"github.com/firstlight/firstlight/internal/profile"
)

// fixed is a gate with a judgement. One of name node observes hosts.
type fixed struct {
	name string
	check.Judgement
	hosts []string
	uuid  string // of every host's GPU; empty: one of its own
	// silent: nothing is recorded.
	silent bool
}

// lenient is a gate with a lowered threshold.
type lenient struct{ fixed }

func (lenient) Lowered() []string { return []string{"requests are 48, the floor is 100"} }

func (f fixed) Name() string { return f.name }

func (f fixed) Observe(_ context.Context, rec check.Recorder) error {
	if f.silent {
		return nil
	}
	o, err := check.Observation{Kind: "probe", Target: "cluster", Command: "probe"}.WithFigures(map[string]any{"seen": true})
	if err != nil {
		return err
	}
	if _, err := rec.Record(o); err != nil {
		return err
	}
	for _, host := range f.hosts {
		log := nvidia.SMILog{Driver: "580.105.08", GPUs: []nvidia.GPU{
			{BusID: "0000:1b:00.0", UUID: cmp.Or(f.uuid, "GPU-"+host), Serial: "16505" + host, Product: "NVIDIA H100 80GB HBM3", VBIOS: "96.00"},
		}}
		o, err := check.Observation{Kind: "nvidia-smi", Target: host, Command: "nvidia-smi -q -x"}.WithFigures(map[string]any{"log": log})
		if err != nil {
			return err
		}
		if _, err := rec.Record(o); err != nil {
			return err
		}
	}
	return nil
}

func (f fixed) Judge([]check.Observation) check.Judgement { return f.Judgement }

// run is a finished accept on real hardware: node on two hosts, collective with a figure, inference.
type run struct {
	header func(*evidence.Header)
	steps  func([]plan.Step) []plan.Step
	// profile is the content of the profile file; nil: the profile of that name.
	profile []byte
	// allowFailed is the most failed nodes that the plan leaves out.
	allowFailed int
}

func (r run) evidence(t *testing.T) certificate.Evidence {
	t.Helper()
	p := plan.Plan{Name: "playbook", AllowFailed: r.allowFailed, Steps: []plan.Step{
		{Check: fixed{name: node.Name, Judgement: check.Pass("2 GPUs"), hosts: []string{"gpu-02", "gpu-01"}}},
		{Check: fixed{name: "collective", Judgement: check.Pass("as the profile wants", check.Figure{Name: "busbw", Value: 365.9, Unit: "GB/s", Limit: 355.1, Relation: ">="})}},
		{Check: fixed{name: "inference", Judgement: check.Pass("served", check.Figure{Name: "TTFT p99", Value: 68, Unit: "ms", Limit: 500, Relation: "<="})}},
	}}
	if r.steps != nil {
		p.Steps = r.steps(p.Steps)
	}
	start := evidencetest.Start(p)
	profileFile, err := profile.Raw(start.Header.Profile)
	if err != nil {
		t.Fatal(err)
	}
	start.Profile = profileFile
	start.Header.Simulated, start.Header.SimulatedWhy, start.Header.Command, start.Recipe = evidence.HardwareReal, "", []string{"firstlight", "accept"}, nil
	if r.header != nil {
		r.header(&start.Header)
	}
	if r.profile != nil {
		start.Profile = r.profile
	}
	clock := evidencetest.Clock()
	stored, err := evidence.Create(t.TempDir(), start, evidence.Options{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	executor := plan.Executor{Plan: p, Store: stored, Clock: clock, Only: start.Header.Only, Capacity: func(context.Context) (int, error) { return 8, nil }}
	out, err := executor.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := stored.Finish(out, nil); err != nil {
		t.Fatal(err)
	}
	b, err := evidence.Load(stored.Dir())
	if err != nil {
		t.Fatal(err)
	}
	m, err := evidence.Stored(stored.Dir())
	if err != nil {
		t.Fatal(err)
	}
	e := certificate.Evidence{Bundle: b, Manifest: m.Digest, SignedBy: "a key"}
	for _, s := range p.Steps {
		e.Checks = append(e.Checks, s.Check)
	}
	return e
}

// tool is the version of firstlight.
const tool = "v0.1.0"

var issued = time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)

func terms() certificate.Terms {
	return certificate.Terms{
		Contract:    certificate.Contract{Reference: "Order 4711", Supplier: "Example Cloud", Customer: "Example Labs"},
		Inventory:   certificate.Ordered{Nodes: 2, GPUs: 2, Product: "NVIDIA H100 80GB HBM3"},
		Figures:     []certificate.Term{{Gate: "collective", Figure: "busbw", Unit: "GB/s", AtLeast: new(350.0), Clause: "B.3"}},
		Signatories: []certificate.Signatory{{Name: "Name", Organization: "Example Labs", Role: "Owner"}},
	}
}

func waiver(gate, suspect, says string) certificate.Waiver {
	return certificate.Waiver{Gate: gate, Suspect: suspect, Says: says, Reason: "known", Owner: "Example Labs", Expires: "2027-06-30"}
}

// step replaces the judgement of a step.
func step(name string, j check.Judgement) func([]plan.Step) []plan.Step {
	return func(steps []plan.Step) []plan.Step {
		for i, s := range steps {
			if f, ok := s.Check.(fixed); ok && f.name == name {
				f.Judgement = j
				steps[i].Check = f
			}
		}
		return steps
	}
}

func TestDecision(t *testing.T) {
	t.Parallel()
	slow := check.Fail("TTFT p99 900 ms", check.Finding{Suspect: "server", Message: "TTFT p99 is 900 ms", Remedy: "see the server"})
	tests := map[string]struct {
		run   run
		terms func(*certificate.Terms)
		want  certificate.Decision
		// open is a pattern of the open deviations, state the state of inference.
		open, state string
	}{
		"accepted": {want: certificate.Accepted},
		"simulated": {
			run: run{header: func(h *evidence.Header) { h.Simulated = evidence.HardwareSimulated }}, want: certificate.NotAccepted, open: "hardware is simulated",
		},
		"not identified": {
			run: run{header: func(h *evidence.Header) { h.Simulated = evidence.HardwareUnknown }}, want: certificate.NotAccepted, open: "whether the hardware is simulated is unknown",
		},
		"another command": {
			run: run{header: func(h *evidence.Header) { h.Command = []string{"firstlight", "validate"} }}, want: certificate.NotAccepted, open: "not a firstlight accept",
		},
		"one gate alone": {
			run: run{header: func(h *evidence.Header) { h.Only = "node" }}, terms: func(t *certificate.Terms) { t.Figures = nil },
			want: certificate.NotAccepted, open: "whole playbook.*only node was selected", state: "",
		},
		"added nodes": {
			run: run{header: func(h *evidence.Header) { h.AddedTo = "20261101-014233-7f3a" }}, want: certificate.NotAccepted, open: "whole playbook.*adds nodes to the accepted run",
		},
		"one repetition of a soak": {
			run: run{header: func(h *evidence.Header) { h.Soak = "20261121-000000" }}, want: certificate.NotAccepted, open: "^one repetition of soak 20261121-000000: the verdict of the soak is not part",
		},
		"one repetition of a soak, waived": {
			run: run{header: func(h *evidence.Header) { h.Soak = "20261121-000000" }},
			terms: func(t *certificate.Terms) {
				t.Waivers = []certificate.Waiver{waiver("", "run", "one repetition of soak 20261121-000000")}
			},
			want: certificate.WithWaivers,
		},
		"failed": {run: run{steps: step("inference", slow)}, want: certificate.NotAccepted, open: "failed: TTFT p99 is 900 ms", state: "failed"},
		"waived": {
			run: run{steps: step("inference", slow)}, terms: func(t *certificate.Terms) { t.Waivers = []certificate.Waiver{waiver("inference", "server", "900 ms")} },
			want: certificate.WithWaivers, state: certificate.Waived,
		},
		"waiver expired": {
			run: run{steps: step("inference", slow)},
			terms: func(t *certificate.Terms) {
				w := waiver("inference", "server", "900 ms")
				w.Expires = "2026-11-26"
				t.Waivers = []certificate.Waiver{w}
			},
			want: certificate.NotAccepted, open: "900 ms", state: "failed",
		},
		"waiver of today": {
			run: run{steps: step("inference", slow)},
			terms: func(t *certificate.Terms) {
				w := waiver("inference", "server", "900 ms")
				w.Expires = "2026-11-27"
				t.Waivers = []certificate.Waiver{w}
			},
			want: certificate.WithWaivers, state: certificate.Waived,
		},
		"one of two findings waived": {
			run: run{steps: step("inference", check.Fail("two", check.Finding{Suspect: "server", Message: "slow"}, check.Finding{Suspect: "server", Message: "wrong tokens"}))},
			terms: func(t *certificate.Terms) {
				t.Waivers = []certificate.Waiver{waiver("inference", "server", "slow")}
			},
			want: certificate.NotAccepted, open: "^failed: wrong tokens$", state: "failed",
		},
		"unobserved": {run: run{steps: step("inference", check.NotObserved("no server"))}, want: certificate.NotAccepted, open: "unobserved: no server", state: "unobserved"},
		"blocked": {
			run: run{steps: func(s []plan.Step) []plan.Step {
				s = step("collective", check.Fail("slow"))(s)
				s[2].Needs = []string{"collective"}
				return s
			}},
			terms: func(t *certificate.Terms) {
				t.Figures, t.Waivers = nil, []certificate.Waiver{waiver("collective", "cluster", "slow")}
			},
			want: certificate.NotAccepted, open: "blocked", state: "blocked",
		},
		"not applicable": {
			run: run{steps: func(s []plan.Step) []plan.Step { s[2].NotApplicable = "no inference here"; return s }}, want: certificate.NotAccepted, open: "not applicable: inference", state: "not-applicable",
		},
		"not applicable, waived": {
			run: run{steps: func(s []plan.Step) []plan.Step { s[2].NotApplicable = "no inference here"; return s }},
			terms: func(t *certificate.Terms) {
				t.Waivers = []certificate.Waiver{waiver("", "run", "not applicable: inference")}
			},
			want: certificate.WithWaivers, state: "not-applicable",
		},
		"figure below the contract": {
			terms: func(t *certificate.Terms) { t.Figures[0].AtLeast = new(366.0) }, want: certificate.NotAccepted, open: `measured 365.9 GB/s; the contract requires at least 366 GB/s`,
		},
		"figure above the contract": {
			terms: func(t *certificate.Terms) {
				t.Figures[0] = certificate.Term{Gate: "inference", Figure: "TTFT p99", Unit: "ms", AtMost: new(67.0)}
			},
			want: certificate.NotAccepted, open: `measured 68 ms; the contract requires at most 67 ms`,
		},
		"figure of a gate that measured none": {
			run: run{steps: step("collective", check.NotObserved("no nodes"))}, want: certificate.NotAccepted, open: "unobserved: no nodes.*not measured; the contract requires at least 350 GB/s",
		},
		"a node short": {
			terms: func(t *certificate.Terms) { t.Inventory.Nodes, t.Inventory.GPUs = 3, 3 }, want: certificate.NotAccepted, open: "2 nodes with 2 GPUs, ordered were 3 nodes with 3 GPUs",
		},
		"another product": {
			terms: func(t *certificate.Terms) { t.Inventory.Product = "NVIDIA H200" }, want: certificate.NotAccepted, open: "GPUs are NVIDIA H100 80GB HBM3, ordered were NVIDIA H200",
		},
		"no inventory": {
			run: run{steps: func(s []plan.Step) []plan.Step {
				f, _ := s[0].Check.(fixed)
				f.hosts = nil
				s[0].Check = f
				return s
			}}, want: certificate.NotAccepted, open: "no inventory was observed",
		},
		"not tried": {
			run: run{steps: func(s []plan.Step) []plan.Step {
				s[2].Check = fixed{name: "inference", silent: true, Judgement: check.Pass("served")}
				return s
			}}, want: certificate.NotAccepted, open: "unobserved", state: "unobserved",
		},
		"failed with a lowered threshold": {
			run: run{steps: func(s []plan.Step) []plan.Step {
				s = step("inference", slow)(s)
				f, _ := s[2].Check.(fixed)
				s[2].Check = lenient{f}
				return s
			}},
			terms: func(t *certificate.Terms) { t.Waivers = []certificate.Waiver{waiver("inference", "server", "900 ms")} },
			want:  certificate.NotAccepted, open: "^lowered by the site: inference: requests are 48, the floor is 100$", state: certificate.Waived,
		},
		"another profile of that name": {
			run: run{profile: []byte("name: h100-sxm-ndr400\n")}, want: certificate.NotAccepted, open: "profile h100-sxm-ndr400 .* is not one of firstlight",
		},
		"a profile file": {
			run: run{header: func(h *evidence.Header) { h.Profile = "/etc/passwd" }}, want: certificate.NotAccepted, open: "profile /etc/passwd .* is not one of firstlight",
		},
		"one GPU under two names": {
			run: run{steps: func(s []plan.Step) []plan.Step {
				f, _ := s[0].Check.(fixed)
				f.uuid = "GPU-1"
				s[0].Check = f
				return s
			}}, want: certificate.NotAccepted, open: "gpu-02 and gpu-01 have the same GPU: GPU-1",
		},
		"figure of a gate that failed before it was measured": {
			run: run{steps: step("inference", check.Judgement{Verdict: check.Failed, Reason: "slow", Figures: []check.Figure{{Name: "time until healthy", Value: 1, Unit: "s"}}, Findings: []check.Finding{{Suspect: "server", Message: "slow"}}})},
			terms: func(t *certificate.Terms) {
				t.Figures[0] = certificate.Term{Gate: "inference", Figure: "TTFT p99", Unit: "ms", AtMost: new(67.0)}
			},
			want: certificate.NotAccepted, open: "failed: slow.*not measured; the contract requires at most 67 ms", state: "failed",
		},
		"missed figure, waived": {
			terms: func(t *certificate.Terms) {
				t.Figures[0].AtLeast, t.Waivers = new(366.0), []certificate.Waiver{waiver("collective", "busbw", "365.9")}
			}, want: certificate.WithWaivers, state: "passed",
		},
		"a recommended gate that failed": {
			run: run{steps: func(s []plan.Step) []plan.Step {
				s = step("inference", slow)(s)
				s[2].Recommended = true
				return s
			}}, want: certificate.NotAccepted, open: "not counted: inference is failed", state: "failed",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wanted := terms()
			if tt.terms != nil {
				tt.terms(&wanted)
			}
			c, err := certificate.Derive(tt.run.evidence(t), wanted, tool, issued)
			if err != nil {
				t.Fatal(err)
			}
			var open []string
			for _, d := range c.Open() {
				open = append(open, d.Text)
			}
			if c.Decision != tt.want || (tt.open == "") != (len(open) == 0) || !regexp.MustCompile("(?s)"+tt.open).MatchString(strings.Join(open, "\n")) {
				t.Errorf("%s, open %q, want %s and %q", c.Decision, open, tt.want, tt.open)
			}
			for _, g := range c.Gates {
				if g.Name == "inference" && tt.state != "" && g.State != tt.state {
					t.Errorf("inference is %q, want %q", g.State, tt.state)
				}
				if g.State == certificate.Waived && g.Verdict == check.Passed {
					t.Errorf("%s is waived, and passed", g.Name)
				}
			}
		})
	}
}

func TestTermsThatDoNotFit(t *testing.T) {
	t.Parallel()
	failed := run{steps: step("inference", check.Fail("two", check.Finding{Suspect: "server", Message: "slow"}, check.Finding{Suspect: "server", Message: "slower"}))}
	for name, tt := range map[string]struct {
		run   run
		terms func(*certificate.Terms)
		says  string
	}{
		"no such gate":      {terms: func(t *certificate.Terms) { t.Figures[0].Gate = "colective" }, says: `no gate "colective"`},
		"no such figure":    {terms: func(t *certificate.Terms) { t.Figures[0].Figure = "bandwidth" }, says: `no figure "bandwidth"; it has \["busbw"\]`},
		"another unit":      {terms: func(t *certificate.Terms) { t.Figures[0].Unit = "Gb/s" }, says: `is in "GB/s", the terms have "Gb/s"`},
		"waiver of nothing": {terms: func(t *certificate.Terms) { t.Waivers = []certificate.Waiver{waiver("node", "gpu-01", "x")} }, says: `waiver of gpu-01 \(gate node\): "x" fits no deviation`},
		"waiver of two":     {run: failed, terms: func(t *certificate.Terms) { t.Waivers = []certificate.Waiver{waiver("inference", "server", "failed")} }, says: "fits 2 deviations"},
		"waived twice": {run: failed, terms: func(t *certificate.Terms) {
			w := waiver("inference", "server", "slower")
			t.Waivers = []certificate.Waiver{w, w}
		}, says: "is the second"},
		"waiver of simulation": {run: run{header: func(h *evidence.Header) { h.Simulated = evidence.HardwareSimulated }}, terms: func(t *certificate.Terms) { t.Waivers = []certificate.Waiver{waiver("", "hardware", "simulated")} }, says: "cannot be waived"},
		"all problems at once": {terms: func(t *certificate.Terms) {
			t.Figures[0].Unit = "Gb/s"
			t.Waivers = []certificate.Waiver{waiver("node", "gpu-01", "x")}
		}, says: `(?s)Gb/s.*fits no deviation`},
		"an expiry of no sense": {run: failed, terms: func(t *certificate.Terms) {
			w := waiver("inference", "server", "slower")
			w.Expires = "soon"
			t.Waivers = []certificate.Waiver{w}
		}, says: `invalid date "soon"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wanted := terms()
			tt.terms(&wanted)
			_, err := certificate.Derive(tt.run.evidence(t), wanted, tool, issued)
			if !errors.Is(err, certificate.ErrTerms) || !regexp.MustCompile(tt.says).MatchString(err.Error()) {
				t.Errorf("%v, want %s", err, tt.says)
			}
		})
	}
}

func TestInventoryAndSerialsAreThoseOfTheGate(t *testing.T) {
	t.Parallel()
	c, err := certificate.Derive(run{}.evidence(t), terms(), tool, issued)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Inventory) != 2 || c.Inventory[0].Host != "gpu-01" || c.Inventory[1].GPUs[0].Serial != "16505gpu-02" || c.Inventory[0].Driver != "580.105.08" {
		t.Errorf("inventory %+v", c.Inventory)
	}
}

func signer(t *testing.T, letter byte) attest.KeyPair {
	t.Helper()
	key, err := attest.Generate(strings.NewReader(strings.Repeat(string(letter), 32)))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// written is a signed certificate.
func written(t *testing.T, key attest.KeyPair, e certificate.Evidence) (certificate.Certificate, string) {
	t.Helper()
	c, err := certificate.Derive(e, terms(), tool, issued)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := c.Write(t.Context(), dir, key); err != nil {
		t.Fatal(err)
	}
	return c, dir
}

func TestForgedCertificates(t *testing.T) {
	t.Parallel()
	key := signer(t, 'a')
	edit := func(t *testing.T, dir, name, from, to string) {
		t.Helper()
		path := filepath.Join(dir, name)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		changed := strings.Replace(string(data), from, to, 1)
		if changed == string(data) {
			t.Fatalf("%s lacks %q", name, from)
		}
		if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, tt := range map[string]struct {
		forge func(*testing.T, string)
		says  string
	}{
		"untouched":         {func(*testing.T, string) {}, ""},
		"another page":      {func(t *testing.T, dir string) { edit(t, dir, certificate.PageFile, "accepted", "rejected") }, "certificate.html does not match"},
		"another print":     {func(t *testing.T, dir string) { edit(t, dir, certificate.PrintFile, "%PDF", "%pdf") }, "certificate.pdf does not match"},
		"no print":          {func(t *testing.T, dir string) { _ = os.Remove(filepath.Join(dir, certificate.PrintFile)) }, "no such file"},
		"no statement":      {func(t *testing.T, dir string) { _ = os.Remove(filepath.Join(dir, certificate.StatementFile)) }, "no such file"},
		"another signature": {func(t *testing.T, dir string) { edit(t, dir, certificate.StatementFile, `"sig":"`, `"sig":"AAAA`) }, "no signature of a given key"},
		"signed by a stranger": {func(t *testing.T, dir string) {
			c, err := certificate.Derive(run{}.evidence(t), terms(), tool, issued)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Write(t.Context(), dir, signer(t, 'b')); err != nil {
				t.Fatal(err)
			}
		}, "no signature of a given key"},
		"the evidence's statement": {func(t *testing.T, dir string) {
			line, err := attest.Seal(t.Context(), []byte(`{"_type":"https://in-toto.io/Statement/v1","predicateType":"https://firstlight.dev/evidence/v1","subject":[],"predicate":{"format":1}}`), key)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, certificate.StatementFile), line, 0o600); err != nil {
				t.Fatal(err)
			}
		}, "a statement of another type"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, dir := written(t, key, run{}.evidence(t))
			tt.forge(t, dir)
			_, _, err := certificate.Read(t.Context(), dir, []attest.PublicKey{key.Public()}, tool)
			if (tt.says == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%v, want %q", err, tt.says)
			}
		})
	}
}

// The holder of a key can sign any content; the comparison with the run names what was changed.
func TestContentThatTheRunDoesNotGive(t *testing.T) {
	t.Parallel()
	b := run{}.evidence(t)
	derived, err := certificate.Derive(b, terms(), tool, issued)
	if err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*certificate.Certificate){
		"":          func(*certificate.Certificate) {},
		"decision":  func(c *certificate.Certificate) { c.Decision = certificate.WithWaivers },
		"inventory": func(c *certificate.Certificate) { c.Inventory[0].GPUs[0].Serial = "1" },
		"figures":   func(c *certificate.Certificate) { c.Figures[0].Measured[0] = 400 },
		"gates":     func(c *certificate.Certificate) { c.Gates[1].Reason = "better" },
		"run":       func(c *certificate.Certificate) { c.Run.Manifest = "00" },
	} {
		c, err := certificate.Derive(b, terms(), tool, issued)
		if err != nil {
			t.Fatal(err)
		}
		change(&c)
		if got, err := c.Differences(derived); err != nil || strings.Join(got, ",") != want {
			t.Errorf("differences %q (%v), want %q", got, err, want)
		}
	}
}

func TestAWaiverExpiresAfterTheIssue(t *testing.T) {
	t.Parallel()
	wanted := terms()
	wanted.Waivers = []certificate.Waiver{waiver("inference", "server", "slow")}
	c, err := certificate.Derive(run{steps: step("inference", check.Fail("slow", check.Finding{Suspect: "server", Message: "slow"}))}.evidence(t), wanted, tool, issued)
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Expired(time.Date(2027, 6, 30, 23, 59, 59, 0, time.UTC)); len(got) != 0 {
		t.Errorf("on its last day: %v", got)
	}
	if got := c.Expired(time.Date(2027, 7, 1, 0, 0, 0, 0, time.UTC)); len(got) != 1 {
		t.Errorf("after its last day: %v", got)
	}
}

func TestPrintableFiles(t *testing.T) {
	t.Parallel()
	wanted := terms()
	wanted.Contract.Supplier = "<b>Żółć & Co</b>\x1b[2J"
	c, err := certificate.Derive(run{}.evidence(t), wanted, tool, issued)
	if err != nil {
		t.Fatal(err)
	}
	page := render(t, c, certificate.PageFile)
	for _, want := range []string{"Certificate of acceptance", "&lt;b&gt;Żółć &amp; Co&lt;/b&gt;", "16505gpu-02", c.Run.Manifest, "busbw", "at least 350 GB/s", "Example Labs"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.ContainsAny(page, "\x1b") || strings.Contains(page, "SPECIMEN") {
		t.Error("the page has a control character, or is a specimen")
	}
	if first := render(t, c, certificate.PrintFile); first != render(t, c, certificate.PrintFile) {
		t.Error("the same certificate is printed otherwise")
	}
	specimen := c
	specimen.Specimen = true
	if page := render(t, specimen, certificate.PageFile); strings.Count(page, "SPECIMEN") != 2 || strings.Contains(page, "Certificate of acceptance") {
		t.Error("the page of a specimen is not marked")
	}
	c.Terms.Contract.Supplier = "Ελλάς"
	if err := c.Write(t.Context(), t.TempDir(), signer(t, 'a')); !errors.Is(err, certificate.ErrCharacters) {
		t.Errorf("Greek is printed: %v", err)
	}
	if err := c.Write(t.Context(), t.TempDir(), nil); !errors.Is(err, certificate.ErrUnsigned) {
		t.Errorf("an unsigned certificate: %v", err)
	}
	id, err := signer(t, 'a').KeyID()
	if err != nil {
		t.Fatal(err)
	}
	c.Run.SignedBy = id
	if err := c.Write(t.Context(), t.TempDir(), signer(t, 'a')); !errors.Is(err, certificate.ErrSameKey) {
		t.Errorf("signed by the key of the evidence: %v", err)
	}
}

// render is the content of a file of a certificate.
func render(t *testing.T, c certificate.Certificate, name string) string {
	t.Helper()
	dir := t.TempDir()
	if err := c.Write(t.Context(), dir, signer(t, 'a')); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// A signer can state any content; content that contradicts itself is refused also without the run.
func TestInconsistentContent(t *testing.T) {
	t.Parallel()
	key := signer(t, 'a')
	for name, tt := range map[string]struct {
		change func(*certificate.Certificate)
		says   string
	}{
		"as derived":      {func(*certificate.Certificate) {}, ""},
		"accepted anyway": {func(c *certificate.Certificate) { c.Deviations = []certificate.Deviation{{Suspect: "run", Text: "x"}} }, `the decision "accepted" does not follow`},
		"not accepted": {func(c *certificate.Certificate) {
			c.Deviations, c.Decision = []certificate.Deviation{{Suspect: "run", Text: "x"}}, certificate.NotAccepted
		}, "the run is not accepted"},
		"simulated":        {func(c *certificate.Certificate) { c.Run.Simulated = evidence.HardwareSimulated }, "not known to be real"},
		"issued too early": {func(c *certificate.Certificate) { c.Issued = c.Run.Began.Add(-time.Hour) }, "before the end of the run"},
		"a state":          {func(c *certificate.Certificate) { c.Gates[0].State = "excellent" }, "does not follow"},
		"no schema":        {func(c *certificate.Certificate) { c.Format = 7 }, "unsupported schema version 7"},
	} {
		c, err := certificate.Derive(run{}.evidence(t), terms(), tool, issued)
		if err != nil {
			t.Fatal(err)
		}
		tt.change(&c)
		dir := t.TempDir()
		if err := c.Write(t.Context(), dir, key); err != nil {
			t.Fatal(err)
		}
		_, _, err = certificate.Read(t.Context(), dir, []attest.PublicKey{key.Public()}, tool)
		if (tt.says == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, want %q", name, err, tt.says)
		}
	}
}

func TestParseTerms(t *testing.T) {
	t.Parallel()
	whole, err := json.Marshal(terms())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := certificate.ParseTerms("terms.yaml", whole); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct{ from, to, says string }{
		"unknown key":    {`"supplier"`, `"suplier"`, `"suplier"`},
		"no customer":    {`"customer":"Example Labs"`, `"customer":""`, `empty key "customer"`},
		"no nodes":       {`"nodes":2`, `"nodes":0`, "nodes"},
		"both limits":    {`"atLeast":350`, `"atLeast":350,"atMost":360`, "needs one of atLeast and atMost"},
		"no limit":       {`"atLeast":350,`, ``, "needs one of atLeast and atMost"},
		"limit of words": {`"atLeast":350`, `"atLeast":"fast"`, "must be a number"},
		"NaN":            {`"atLeast":350`, `"atLeast":.nan`, "must be a number"},
		"no signatory":   {`"signatories":[`, `"signatories":[],"x":[`, `"signatories"`},
		"no date":        {`"signatories"`, `"waivers":[{"suspect":"run","reason":"r","owner":"o","expires":"soon"}],"signatories"`, `invalid date "soon"`},
	} {
		changed := strings.Replace(string(whole), tt.from, tt.to, 1)
		if _, err := certificate.ParseTerms("terms.yaml", []byte(changed)); err == nil || !strings.Contains(err.Error(), tt.says) || !strings.Contains(err.Error(), "terms.yaml:1:") {
			t.Errorf("%s: %v, want %q", name, err, tt.says)
		}
	}
}

// The evidence is read after its verification: a change in between gives no certificate.
func TestEvidenceThatChangedSinceItsVerification(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*testing.T, *certificate.Evidence){
		"another manifest": func(_ *testing.T, e *certificate.Evidence) { e.Manifest = strings.Repeat("0", 64) },
		"another file": func(t *testing.T, e *certificate.Evidence) {
			if err := os.WriteFile(filepath.Join(e.Dir, "site.yaml"), []byte("name: other\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		},
	} {
		e := run{}.evidence(t)
		change(t, &e)
		if _, err := certificate.Derive(e, terms(), tool, issued); !errors.Is(err, certificate.ErrChanged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
