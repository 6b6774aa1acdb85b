package access

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/dra/inventory"
	"github.com/firstlight/firstlight/internal/conformance/dra/testpod"
)

// fixture is what the check observes.
type fixture struct {
	slices   []inventory.Slice
	free     freeNode
	pods     map[string]*testpod.Status
	devices  map[string]*podDevices
	together []testpod.Status
	answers  map[string]admission
	// without are targets (or kinds) that were not recorded, unreadable those of
	// which only an error was.
	without, unreadable []string
}

var (
	at      = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	refusal = admission{Code: 403, Reason: "Forbidden", Message: `pods "host-path" is forbidden: violates PodSecurity "baseline:latest": hostPath volumes (volume "dev")`}
)

func healthy() *fixture {
	nothing := func(uid string) *podDevices {
		return &podDevices{UID: uid, Devices: Devices{Files: []string{}, UUIDs: []string{}, Tool: toolAbsent}}
	}
	pod := func(name string, since time.Time, containers ...string) *testpod.Status {
		s := &testpod.Status{At: since.Add(time.Second), Pod: "ns/" + name, UID: "uid-" + name, Node: "gpu-01", Phase: "Running", Scheduled: testpod.Scheduled{Status: "True"}}
		for _, c := range containers {
			s.Containers = append(s.Containers, testpod.ContainerStatus{Name: c, Running: true, Since: since})
		}
		return s
	}
	s := &fixture{
		slices: []inventory.Slice{{Name: "s", Driver: inventory.Driver, Pool: "gpu-01", Node: "gpu-01", Generation: 1, PoolSlices: 1, Devices: []inventory.Device{
			{Name: "gpu-0", Type: "gpu", UUID: uuidA}, {Name: "gpu-1", Type: "gpu", UUID: uuidB},
		}}},
		free: freeNode{GPUs: []inventory.NodeGPUs{{Node: "gpu-01", Open: true, Offered: 2}}, Node: "gpu-01"},
		pods: map[string]*testpod.Status{
			claimant: pod(claimant, at, claimed, sibling), bystander: pod(bystander, at.Add(time.Second), looker), asking: pod(asking, at.Add(time.Second), looker),
		},
		devices: map[string]*podDevices{
			claimant + "/" + claimed: {UID: "uid-claimant", Devices: Devices{Files: []string{"/dev/nvidia1"}, UUIDs: []string{uuidB}, Tool: toolLists}},
			claimant + "/" + sibling: nothing("uid-claimant"), bystander + "/" + looker: nothing("uid-bystander"), asking + "/" + looker: nothing("uid-asking"),
		},
		answers: map[string]admission{plain: {Admitted: true}, hostPath: refusal, privileged: refusal},
	}
	s.pods[claimant].Claim = &testpod.ClaimStatus{Name: "c", UID: "c", Allocated: true, Devices: []testpod.Device{{Driver: inventory.Driver, Pool: "gpu-01", Device: "gpu-1"}}, ReservedFor: []string{"uid-claimant"}}
	for _, name := range []string{claimant, bystander, asking} {
		later := *s.pods[name]
		later.At = at.Add(10 * time.Second)
		s.together = append(s.together, later)
	}
	return s
}

func (s *fixture) observations(t *testing.T) []check.Observation {
	t.Helper()
	var out []check.Observation
	add := func(kind, target string, figures any) {
		if slices.Contains(s.without, kind) || slices.Contains(s.without, target) {
			return
		}
		o := check.Observation{ID: kind + "-" + target, Kind: kind, Target: target}
		if slices.Contains(s.unreadable, kind) || slices.Contains(s.unreadable, target) {
			o.Err = "it could not be read"
		} else {
			var err error
			if o, err = o.WithFigures(figures); err != nil {
				t.Fatal(err)
			}
		}
		out = append(out, o)
	}
	add(kindSlices, "cluster", s.slices)
	add(kindFree, "cluster", s.free)
	for _, name := range []string{plain, hostPath, privileged} {
		add(kindAdmission, name, s.answers[name])
	}
	for _, name := range []string{claimant, bystander, asking} {
		add(kindPod, name, s.pods[name])
	}
	for _, target := range []string{claimant + "/" + claimed, claimant + "/" + sibling, bystander + "/" + looker, asking + "/" + looker} {
		add(kindDevices, target, s.devices[target])
	}
	add(kindTogether, "gpu-01", s.together)
	return out
}

func TestJudge(t *testing.T) {
	t.Parallel()
	leak := Devices{Files: []string{"/dev/nvidia0", "/dev/nvidia1"}, UUIDs: []string{uuidA, uuidB}, Tool: toolLists}
	tests := map[string]struct {
		alter   func(*fixture)
		want    check.Verdict
		suspect string
		says    string
	}{
		"healthy":               {want: check.Passed},
		"another word for none": {alter: func(s *fixture) { s.devices["bystander/looker"].Tool = toolNone }, want: check.Passed},
		"nothing was recorded": {alter: func(s *fixture) {
			s.without = []string{kindSlices, kindFree, kindPod, kindDevices, kindTogether, kindAdmission}
		}, want: check.Unobserved},
		"slices cannot be read":    {alter: func(s *fixture) { s.unreadable = []string{kindSlices} }, want: check.Unobserved},
		"no free devices observed": {alter: func(s *fixture) { s.unreadable = []string{kindFree} }, want: check.Unobserved},
		"no GPU is free":           {alter: func(s *fixture) { s.free.Node = ""; s.free.GPUs[0].Holders = []string{"claim team/gpu"} }, want: check.Unobserved, suspect: "free GPUs", says: "claim team/gpu"},
		"the slice has no UUIDs":   {alter: func(s *fixture) { s.slices[0].Devices[1].UUID = "" }, want: check.Unobserved, says: "no uuid"},

		// With a claim: its GPU, and no other.
		"no GPU with a claim": {alter: func(s *fixture) { s.devices["claimant/claimed"].Devices = Devices{Tool: toolAbsent} }, want: check.Failed, suspect: "gpu-01/DRA driver", says: "sees no GPU"},
		"another GPU":         {alter: func(s *fixture) { s.devices["claimant/claimed"].UUIDs = []string{uuidA} }, want: check.Failed, suspect: "gpu-01/DRA driver", says: uuidA},
		"another one, too":    {alter: func(s *fixture) { s.devices["claimant/claimed"].Devices = leak }, want: check.Failed, suspect: "gpu-01/DRA driver"},
		"another one's file":  {alter: func(s *fixture) { s.devices["claimant/claimed"].Files = leak.Files }, want: check.Failed, suspect: "gpu-01/DRA driver"},
		"its file is missing": {alter: func(s *fixture) { s.devices["claimant/claimed"].Files = nil }, want: check.Failed, suspect: "gpu-01/DRA driver"},
		"its file and no tool": {alter: func(s *fixture) {
			s.devices["claimant/claimed"].UUIDs, s.devices["claimant/claimed"].Tool = nil, toolAbsent
		}, want: check.Failed, suspect: "gpu-01/DRA driver"},
		"with a claim, it is broken": {alter: func(s *fixture) {
			s.devices["claimant/claimed"].UUIDs, s.devices["claimant/claimed"].Tool = nil, toolFailed
		}, want: check.Unobserved},
		"its log is cut":           {alter: func(s *fixture) { s.unreadable = []string{"claimant/claimed"} }, want: check.Unobserved},
		"its log was not read":     {alter: func(s *fixture) { s.without = []string{"claimant/claimed"} }, want: check.Unobserved},
		"its log is another pod's": {alter: func(s *fixture) { s.devices["claimant/claimed"].UID = "uid-old" }, want: check.Unobserved, says: "another pod"},
		// aicr: that nothing was allocated does not fail there.
		"it runs, with nothing allocated": {alter: func(s *fixture) { s.pods[claimant].Claim = &testpod.ClaimStatus{UID: "c"} }, want: check.Failed, suspect: "ResourceClaim of ns/claimant"},
		"it runs without a claim":         {alter: func(s *fixture) { s.pods[claimant].Claim = nil }, want: check.Failed, suspect: "ResourceClaim of ns/claimant"},
		"two were allocated": {alter: func(s *fixture) {
			s.pods[claimant].Claim.Devices = append(s.pods[claimant].Claim.Devices, testpod.Device{})
		}, want: check.Failed, suspect: "ResourceClaim"},
		"allocated to another": {alter: func(s *fixture) { s.pods[claimant].Claim.ReservedFor = []string{"uid-x"} }, want: check.Failed, suspect: "ResourceClaim"},
		"a device of no slice": {alter: func(s *fixture) { s.pods[claimant].Claim.Devices[0].Device = "gpu-5" }, want: check.Failed, says: "gpu-5"},
		"a foreign device":     {alter: func(s *fixture) { s.pods[claimant].Claim.Devices[0].Driver = "dra.net" }, want: check.Failed, says: "dra.net"},
		"refused, though a GPU is free": {alter: func(s *fixture) {
			s.pods[claimant].Phase, s.pods[claimant].Claim.Allocated, s.pods[claimant].Scheduled = "Pending", false, testpod.Scheduled{Status: "False", Reason: "Unschedulable", Message: "cannot allocate all claims"}
		}, want: check.Failed, says: "cannot allocate all claims"},
		"it does not run":               {alter: func(s *fixture) { s.pods[claimant].Phase = "Pending" }, want: check.Unobserved, suspect: "pod ns/claimant"},
		"it runs elsewhere":             {alter: func(s *fixture) { s.pods[claimant].Node = "gpu-02" }, want: check.Unobserved, says: "gpu-02"},
		"one of its containers has not": {alter: func(s *fixture) { s.pods[claimant].Containers[1].Running = false }, want: check.Unobserved},
		"it was not tried":              {alter: func(s *fixture) { s.without = []string{claimant} }, want: check.Unobserved},

		// In the same pod.
		"the sibling sees it":        {alter: func(s *fixture) { s.devices["claimant/sibling"].Devices = s.devices["claimant/claimed"].Devices }, want: check.Failed, suspect: "gpu-01/DRA driver", says: "allocated to another"},
		"the sibling sees a file":    {alter: func(s *fixture) { s.devices["claimant/sibling"].Files = []string{"/dev/nvidia1"} }, want: check.Failed, suspect: "gpu-01/DRA driver"},
		"the sibling's log is cut":   {alter: func(s *fixture) { s.unreadable = []string{"claimant/sibling"} }, want: check.Unobserved},
		"the sibling was not read":   {alter: func(s *fixture) { s.without = []string{"claimant/sibling"} }, want: check.Unobserved},
		"the sibling's tool is odd":  {alter: func(s *fixture) { s.devices["claimant/sibling"].Tool = toolFailed }, want: check.Unobserved},
		"the sibling's has no words": {alter: func(s *fixture) { s.devices["claimant/sibling"].Tool = "" }, want: check.Unobserved},

		// Without a claim.
		"a bystander sees all": {alter: func(s *fixture) { s.devices["bystander/looker"].Devices = leak }, want: check.Failed, suspect: "gpu-01/container runtime"},
		"a bystander sees a free one": {alter: func(s *fixture) {
			s.devices["bystander/looker"].UUIDs, s.devices["bystander/looker"].Tool = []string{uuidA}, toolLists
		}, want: check.Failed, suspect: "gpu-01/container runtime"},
		"the bystander does not run":         {alter: func(s *fixture) { s.pods[bystander].Phase = "Failed" }, want: check.Unobserved, suspect: "pod ns/bystander"},
		"the bystander is elsewhere":         {alter: func(s *fixture) { s.pods[bystander].Node = "gpu-02" }, want: check.Unobserved},
		"the bystander's log is cut":         {alter: func(s *fixture) { s.unreadable = []string{"bystander/looker"} }, want: check.Unobserved},
		"no bystander":                       {alter: func(s *fixture) { s.without = []string{bystander, "bystander/looker"} }, want: check.Unobserved},
		"the asking container sees all GPUs": {alter: func(s *fixture) { s.devices["asking/looker"].Devices = leak }, want: check.Failed, suspect: "gpu-01/container toolkit", says: "NVIDIA_VISIBLE_DEVICES"},
		"no log of the asking container":     {alter: func(s *fixture) { s.unreadable = []string{"asking/looker"} }, want: check.Unobserved},
		"the asking container does not run":  {alter: func(s *fixture) { s.pods[asking].Containers = nil }, want: check.Unobserved},
		"no asking pod":                      {alter: func(s *fixture) { s.without = []string{asking} }, want: check.Unobserved},

		// At the same time.
		"no second observation":      {alter: func(s *fixture) { s.without = []string{kindTogether} }, want: check.Unobserved},
		"the claimant has ended":     {alter: func(s *fixture) { s.together[0].Phase = "Succeeded" }, want: check.Unobserved, suspect: "pod ns/claimant"},
		"the claimant is another":    {alter: func(s *fixture) { s.together[0].UID = "uid-new" }, want: check.Unobserved, suspect: "pod ns/claimant"},
		"the claimant was restarted": {alter: func(s *fixture) { s.together[0].Containers = []testpod.ContainerStatus{{Running: true, Restarts: 1}} }, want: check.Unobserved},
		"its claim is given back":    {alter: func(s *fixture) { s.together[0].Claim = nil }, want: check.Unobserved},
		"the asking pod has ended":   {alter: func(s *fixture) { s.together = s.together[:2] }, want: check.Unobserved, suspect: "pod ns/asking"},
		"the bystander came too early": {alter: func(s *fixture) {
			s.together[1].Containers = []testpod.ContainerStatus{{Running: true, Since: at.Add(-time.Second)}}
		}, want: check.Unobserved, says: "before the pod with the claim"},

		// Around it all.
		"a host path is taken":          {alter: func(s *fixture) { s.answers[hostPath] = admission{Admitted: true} }, want: check.Failed, suspect: "pod security", says: "host path /dev"},
		"privileged is taken":           {alter: func(s *fixture) { s.answers[privileged] = admission{Admitted: true} }, want: check.Failed, suspect: "pod security", says: "privileged"},
		"refused by something else":     {alter: func(s *fixture) { s.answers[hostPath] = admission{Code: 403, Message: "exceeded quota"} }, want: check.Unobserved, says: "exceeded quota"},
		"refused with another code":     {alter: func(s *fixture) { s.answers[hostPath] = admission{Code: 422, Message: "PodSecurity"} }, want: check.Unobserved},
		"a plain pod is refused":        {alter: func(s *fixture) { s.answers[plain] = admission{Code: 403, Message: "no dry run here"} }, want: check.Unobserved, says: "no dry run here"},
		"a plain pod was not asked for": {alter: func(s *fixture) { s.without = []string{plain} }, want: check.Unobserved},
		"the host path was not":         {alter: func(s *fixture) { s.unreadable = []string{hostPath} }, want: check.Unobserved},
		"privileged was not":            {alter: func(s *fixture) { s.without = []string{privileged} }, want: check.Unobserved},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := healthy()
			if tt.alter != nil {
				tt.alter(s)
			}
			j := (&Check{nodes: []string{"gpu-01"}}).Judge(s.observations(t))
			if j.Verdict != tt.want {
				t.Fatalf("%s, want %s: %s", j.Verdict, tt.want, j.Reason)
			}
			if tt.want == check.Passed {
				return
			}
			var said []string
			for _, f := range j.Findings {
				said = append(said, f.Suspect+": "+f.Message)
				if f.Remedy == "" {
					t.Errorf("no remedy: %+v", f)
				}
			}
			if text := strings.Join(said, "\n"); !strings.Contains(text, tt.says) || !strings.Contains(text, tt.suspect) {
				t.Errorf("no finding with suspect %q and message %q:\n%s", tt.suspect, tt.says, text)
			}
		})
	}
}

func TestNothingIsNoPass(t *testing.T) {
	t.Parallel()
	obs := healthy().observations(t)
	if j := (&Check{}).Judge(obs); j.Verdict != check.Unobserved {
		t.Errorf("no nodes: %s", j.Verdict)
	}
	if j := (&Check{nodes: []string{"gpu-01"}}).Judge(append(obs, obs...)); j.Verdict != check.Unobserved {
		t.Errorf("all twice: %s", j.Verdict)
	}
}
