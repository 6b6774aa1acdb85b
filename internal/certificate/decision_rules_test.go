package certificate_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/certificate"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// hosts is gate node with the GPUs of each host. It fails the hosts of failed, and passes without
// them.
type hosts struct {
	gpus   map[string][]nvidia.GPU
	failed []string
}

func (hosts) Name() string { return node.Name }

func (h hosts) Nodes() []string { return []string{"gpu-01", "gpu-02"} }

func (h hosts) Excluding(nodes []string) check.Check {
	h.failed = slices.DeleteFunc(slices.Clone(h.failed), func(n string) bool { return slices.Contains(nodes, n) })
	return h
}

func (h hosts) Observe(_ context.Context, rec check.Recorder) error {
	for _, host := range h.Nodes() {
		o, err := check.Observation{Kind: "nvidia-smi", Target: host, Command: "nvidia-smi -q -x"}.WithFigures(map[string]any{"log": nvidia.SMILog{GPUs: h.gpus[host]}})
		if err != nil {
			return err
		}
		if _, err := rec.Record(o); err != nil {
			return err
		}
	}
	return nil
}

func (h hosts) Judge([]check.Observation) check.Judgement {
	var b check.Builder
	for _, n := range h.failed {
		b.Fail("", n, "repair it", "%s is broken", n)
	}
	return b.Judgement("fine")
}

// of is a run whose gate node is h.
func of(h hosts, allowFailed int) run {
	return run{
		header: func(header *evidence.Header) { header.AllowFailed = allowFailed },
		steps: func(s []plan.Step) []plan.Step {
			s[0].Check = h
			return s
		},
		allowFailed: allowFailed,
	}
}

// machines are the GPUs of two hosts: serial numbers by host, of these products.
func machines(first, second string) hosts {
	return hosts{gpus: map[string][]nvidia.GPU{"gpu-01": {{UUID: "GPU-1", Product: first}}, "gpu-02": {{UUID: "GPU-2", Product: second}}}}
}

// openOf are the open deviations of a certificate, as text.
func openOf(c certificate.Certificate) string {
	var out []string
	for _, d := range c.Open() {
		out = append(out, d.Text)
	}
	return strings.Join(out, "\n")
}

const h100 = "NVIDIA H100 80GB HBM3"

// The inventory is compared with the order: nodes and GPUs each by their number, every product, and
// only what the run did not leave out.
func TestTheInventoryIsTheOrderedOne(t *testing.T) {
	t.Parallel()
	two := machines(h100, h100)
	two.gpus["gpu-02"] = append(two.gpus["gpu-02"], nvidia.GPU{UUID: "GPU-3", Product: h100})
	unnamed := machines(h100, h100)
	unnamed.gpus["gpu-01"][0].UUID, unnamed.gpus["gpu-02"][0].UUID = "", ""
	broken := machines(h100, "NVIDIA H200")
	broken.failed = []string{"gpu-02"}
	for name, tt := range map[string]struct {
		run   run
		nodes int
		gpus  int
		open  string
	}{
		"as ordered":                  {of(machines(h100, h100), 0), 2, 2, ""},
		"a GPU more on a node":        {of(two, 0), 2, 2, "2 nodes with 3 GPUs, ordered were 2 nodes with 2 GPUs"},
		"the GPUs of more nodes":      {of(two, 0), 3, 3, "2 nodes with 3 GPUs, ordered were 3 nodes with 3 GPUs"},
		"GPUs that show no UUID":      {of(unnamed, 0), 2, 2, ""},
		"two other products, sorted":  {of(machines("NVIDIA H200", "NVIDIA A100"), 0), 2, 2, "GPUs are NVIDIA A100, NVIDIA H200, ordered were " + h100},
		"a node that is left out":     {of(broken, 1), 1, 1, "left out"},
		"a node that is not left out": {of(broken, 0), 2, 2, "failed: gpu-02 is broken\nGPUs are NVIDIA H200, ordered were " + h100},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wanted := terms()
			wanted.Inventory.Nodes, wanted.Inventory.GPUs = tt.nodes, tt.gpus
			c, err := certificate.Derive(tt.run.evidence(t), wanted, tool, issued)
			if err != nil {
				t.Fatal(err)
			}
			if got := openOf(c); (tt.open == "") != (got == "") || !strings.Contains(got, tt.open) {
				t.Errorf("open: %s\nwant: %s", got, tt.open)
			}
			if tt.open == "left out" && (strings.Contains(openOf(c), "ordered") || !c.Inventory[1].LeftOut || c.Inventory[0].LeftOut) {
				t.Errorf("a node that is left out does not count: %s, %+v", openOf(c), c.Inventory)
			}
		})
	}
}

// The inventory is what gate node observed, whatever other gates observed of hosts.
func TestTheInventoryIsOfGateNode(t *testing.T) {
	t.Parallel()
	c, err := certificate.Derive(run{steps: func(s []plan.Step) []plan.Step {
		f, _ := s[1].Check.(fixed)
		f.hosts = []string{"gpu-03"}
		s[1].Check = f
		return s
	}}.evidence(t), terms(), tool, issued)
	if err != nil || len(c.Inventory) != 2 || c.Decision != certificate.Accepted {
		t.Errorf("%s, %+v, %v", c.Decision, c.Inventory, err)
	}
}

// A figure meets its term at the limit itself, of any gate, and never without a limit.
func TestAFigureMeetsItsLimit(t *testing.T) {
	t.Parallel()
	gpus := run{steps: step(node.Name, check.Pass("2 GPUs", check.Figure{Name: "GPUs", Value: 2, Unit: "1"}))}
	for name, tt := range map[string]struct {
		run  run
		term certificate.Term
		met  bool
	}{
		"at least, exactly":  {run{}, certificate.Term{Gate: "collective", Figure: "busbw", Unit: "GB/s", AtLeast: new(365.9)}, true},
		"at most, exactly":   {run{}, certificate.Term{Gate: "inference", Figure: "TTFT p99", Unit: "ms", AtMost: new(68.0)}, true},
		"at most, less":      {run{}, certificate.Term{Gate: "inference", Figure: "TTFT p99", Unit: "ms", AtMost: new(500.0)}, true},
		"at most, more":      {run{}, certificate.Term{Gate: "inference", Figure: "TTFT p99", Unit: "ms", AtMost: new(67.9)}, false},
		"without a limit":    {run{}, certificate.Term{Gate: "inference", Figure: "TTFT p99", Unit: "ms"}, false},
		"of the first gate":  {gpus, certificate.Term{Gate: node.Name, Figure: "GPUs", Unit: "1", AtLeast: new(2.0)}, true},
		"of the second gate": {run{}, certificate.Term{Gate: "collective", Figure: "busbw", Unit: "GB/s", AtLeast: new(366.0)}, false},
	} {
		wanted := terms()
		wanted.Figures = []certificate.Term{tt.term}
		c, err := certificate.Derive(tt.run.evidence(t), wanted, tool, issued)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if want := map[bool]certificate.Decision{true: certificate.Accepted, false: certificate.NotAccepted}[tt.met]; c.Decision != want || len(c.Figures) != 1 || c.Figures[0].Met != tt.met || len(c.Open()) != map[bool]int{true: 0, false: 1}[tt.met] {
			t.Errorf("%s: %s, %+v, want met %t", name, c.Decision, c.Figures, tt.met)
		}
		if name == "without a limit" && !strings.Contains(openOf(c), "requires no limit") {
			t.Error(openOf(c))
		}
	}
}

// Each gate of the playbook has a verdict: a gate that was not run is a deviation that cannot be waived.
func TestAGateWithoutAVerdict(t *testing.T) {
	t.Parallel()
	wanted := terms()
	wanted.Figures = nil
	c, err := certificate.Derive(run{header: func(h *evidence.Header) { h.Only = node.Name }}.evidence(t), wanted, tool, issued)
	if err != nil {
		t.Fatal(err)
	}
	var without []string
	for _, d := range c.Open() {
		if d.Text == "no verdict" && d.Final {
			without = append(without, d.Gate)
		}
	}
	if !slices.Equal(without, []string{"collective", "inference"}) || len(c.Gates) != 3 || c.Gates[2].Name != "inference" {
		t.Errorf("%q, %+v", without, c.Gates)
	}
}

// A waiver covers one deviation, and all that a gate was found to have: the order of findings does
// not matter, two equal findings are one, and a text that is exactly that of a deviation is of it
// alone.
func TestWaiversOfSeveralFindings(t *testing.T) {
	t.Parallel()
	finding := func(text string) check.Finding { return check.Finding{Suspect: "server", Message: text} }
	for name, tt := range map[string]struct {
		findings []check.Finding
		waived   []string
		want     certificate.Decision
		state    string
	}{
		"the second of two":        {[]check.Finding{finding("slow"), finding("wrong tokens")}, []string{"wrong"}, certificate.NotAccepted, "failed"},
		"the first of two":         {[]check.Finding{finding("slow"), finding("wrong tokens")}, []string{"slow"}, certificate.NotAccepted, "failed"},
		"both":                     {[]check.Finding{finding("slow"), finding("wrong tokens")}, []string{"slow", "wrong"}, certificate.WithWaivers, certificate.Waived},
		"a finding that is twice":  {[]check.Finding{finding("slow"), finding("slow")}, []string{"slow"}, certificate.WithWaivers, certificate.Waived},
		"one that begins another":  {[]check.Finding{finding("slow"), finding("slower")}, []string{"failed: slow", "slower"}, certificate.WithWaivers, certificate.Waived},
		"only that of the longest": {[]check.Finding{finding("slow"), finding("slower")}, []string{"slower"}, certificate.NotAccepted, "failed"},
	} {
		wanted := terms()
		for _, says := range tt.waived {
			wanted.Waivers = append(wanted.Waivers, waiver("inference", "server", says))
		}
		c, err := certificate.Derive(run{steps: step("inference", check.Fail("slow", tt.findings...))}.evidence(t), wanted, tool, issued)
		if err != nil || c.Decision != tt.want || c.Gates[2].State != tt.state {
			t.Errorf("%s: %s, %+v, %v", name, c.Decision, c.Gates, err)
		}
	}
}

// lenientHosts is a gate of nodes with a lowered threshold.
type lenientHosts struct{ hosts }

func (lenientHosts) Lowered() []string { return []string{"requests are 48, the floor is 100"} }

func (h lenientHosts) Excluding(nodes []string) check.Check {
	without, _ := h.hosts.Excluding(nodes).(hosts)
	return lenientHosts{without}
}

// A threshold that the site lowers is listed once: by the verdict of a gate that passed, also without
// nodes, else by the certificate; not for a gate that does not apply, and not for other gates. So one
// waiver accepts it.
func TestALoweredThresholdIsListedOnce(t *testing.T) {
	t.Parallel()
	inference := func(steps func([]plan.Step) []plan.Step) run {
		return run{steps: func(s []plan.Step) []plan.Step {
			s = steps(s)
			f, _ := s[2].Check.(fixed)
			s[2].Check = lenient{f}
			return s
		}}
	}
	broken := machines(h100, h100)
	broken.failed = []string{"gpu-02"}
	partial := of(broken, 1)
	partial.steps = func(s []plan.Step) []plan.Step { s[0].Check = lenientHosts{broken}; return s }
	for name, tt := range map[string]struct {
		run  run
		want int
	}{
		"passed":            {inference(func(s []plan.Step) []plan.Step { return s }), 1},
		"failed":            {inference(step("inference", check.Fail("slow", check.Finding{Suspect: "server", Message: "slow"}))), 1},
		"not applicable":    {inference(func(s []plan.Step) []plan.Step { s[2].NotApplicable = "no inference here"; return s }), 0},
		"another one fails": {inference(step("collective", check.Fail("slow", check.Finding{Suspect: "cluster", Message: "slow"}))), 1},
		"partial":           {partial, 1},
	} {
		wanted := terms()
		wanted.Figures = nil
		e := tt.run.evidence(t)
		c, err := certificate.Derive(e, wanted, tool, issued)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(openOf(c), "requests are 48, the floor is 100"); got != tt.want {
			t.Errorf("%s: listed %d times, want %d: %s", name, got, tt.want, openOf(c))
		}
		for _, d := range c.Open() {
			if !d.Final {
				wanted.Waivers = append(wanted.Waivers, waiver(d.Gate, d.Suspect, d.Text))
			}
		}
		if c, err := certificate.Derive(e, wanted, tool, issued); err != nil || c.Decision != certificate.WithWaivers {
			t.Errorf("%s, all waived: %s: %s, %v", name, c.Decision, openOf(c), err)
		}
	}
}

// A run that has not come to its end has no certificate.
func TestAnUnfinishedRunHasNoCertificate(t *testing.T) {
	t.Parallel()
	e := run{}.evidence(t)
	e.Finished = false
	if c, err := certificate.Derive(e, terms(), tool, issued); !errors.Is(err, certificate.ErrUnfinished) || c.Decision != "" {
		t.Errorf("%s, %v", c.Decision, err)
	}
}

// A certificate names the files that its run was judged by, and the end of its last gate.
func TestTheRunOfACertificate(t *testing.T) {
	t.Parallel()
	e := run{}.evidence(t)
	var last time.Time
	for _, r := range e.Results() {
		if r.At.After(last) {
			last = r.At
		}
	}
	at := map[string]time.Time{}
	for _, r := range e.Results() {
		at[r.Step] = r.At
	}
	// the last verdict first: the order of the plan does not matter
	slices.SortFunc(e.Plan.Steps, func(a, b evidence.PlanStep) int { return at[b.Name].Compare(at[a.Name]) })
	c, err := certificate.Derive(e, terms(), tool, issued)
	if err != nil {
		t.Fatal(err)
	}
	sum := func(data []byte) string {
		digest := sha256.Sum256(data)
		return hex.EncodeToString(digest[:])
	}
	want := certificate.Run{
		ID: e.Header.Run, Manifest: e.Manifest, SignedBy: "a key", Verdict: check.Passed, Began: e.Header.Created.UTC(), Ended: last.UTC(), Tool: e.Header.Tool,
		Site: certificate.Input{Name: e.Header.Site, SHA256: sum(e.Site)}, Profile: certificate.Input{Name: e.Header.Profile, SHA256: sum(e.Profile)},
		Cluster: e.Header.Cluster, Simulated: evidence.HardwareReal,
	}
	if c.Run != want {
		t.Errorf("%+v, want %+v", c.Run, want)
	}
}

// Evidence that cannot be read gives no certificate, and the error names the missing part.
func TestEvidenceThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for name, says := range map[string]string{"observations": "read the inventory", evidence.ManifestFileName: "read the manifest"} {
		e := run{}.evidence(t)
		if err := os.RemoveAll(filepath.Join(e.Dir, name)); err != nil {
			t.Fatal(err)
		}
		if _, err := certificate.Derive(e, terms(), tool, issued); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("without %s: %v", name, err)
		}
	}
}

// Only firstlight accept of the whole playbook is certified, and a header without a command is not.
func TestTheCommandOfACertifiedRun(t *testing.T) {
	t.Parallel()
	for _, command := range [][]string{nil, {"firstlight"}, {"firstlight", "drift"}} {
		e := run{}.evidence(t)
		e.Header.Command = command
		c, err := certificate.Derive(e, terms(), tool, issued)
		if err != nil || c.Decision != certificate.NotAccepted || !strings.Contains(openOf(c), "not a firstlight accept") {
			t.Errorf("%q: %s, %s, %v", command, c.Decision, openOf(c), err)
		}
	}
}

// The profiles of a certified run are those of this firstlight: a file with
// the same figures is not, and a profile of a group is compared, too.
func TestTheProfilesAreThoseOfFirstlight(t *testing.T) {
	t.Parallel()
	own, err := profile.Raw("h100-sxm-ndr400")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "own.yaml")
	if err := os.WriteFile(path, own, 0o600); err != nil {
		t.Fatal(err)
	}
	e := run{header: func(h *evidence.Header) { h.Profile = path }, profile: own}.evidence(t)
	c, err := certificate.Derive(e, terms(), tool, issued)
	if err != nil || !strings.Contains(openOf(c), path+" (sha256 ") {
		t.Errorf("a file: %s, %v", openOf(c), err)
	}
	for name, tt := range map[string]struct {
		content []byte
		open    bool
	}{"its own": {own, false}, "another one": {append(slices.Clone(own), '\n'), true}} {
		e := run{}.evidence(t)
		e.Site = []byte(strings.Replace(string(site.Example()), "\nreach:\n", "\ngroups: [{name: new, profile: h100-sxm-ndr400, nodes: [gpu-04]}]\n\nreach:\n", 1))
		e.Inputs = map[string][]byte{"profile-new.yaml": tt.content}
		c, err := certificate.Derive(e, terms(), tool, issued)
		if err != nil || strings.Contains(openOf(c), "is not one of firstlight") != tt.open {
			t.Errorf("a group with %s: %s, %v", name, openOf(c), err)
		}
	}
}
