package access

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/dra/offer"
	"github.com/firstlight/firstlight/internal/conformance/dra/trial"
)

// seen is all that the check looks at.
type seen struct {
	slices   []offer.Slice
	room     room
	pods     map[string]*trial.Seen
	sights   map[string]*sight
	together []trial.Seen
	answers  map[string]admission
	// without are targets (or kinds) that were not recorded, unreadable those of
	// which only an error was.
	without, unreadable []string
}

var (
	at      = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	refusal = admission{Code: 403, Reason: "Forbidden", Message: `pods "host-path" is forbidden: violates PodSecurity "baseline:latest": hostPath volumes (volume "dev")`}
)

func healthy() *seen {
	nothing := func(uid string) *sight {
		return &sight{UID: uid, Sight: Sight{Files: []string{}, UUIDs: []string{}, Tool: toolAbsent}}
	}
	pod := func(name string, since time.Time, containers ...string) *trial.Seen {
		s := &trial.Seen{At: since.Add(time.Second), Pod: "ns/" + name, UID: "uid-" + name, Node: "gpu-01", Phase: "Running", Scheduled: trial.Scheduled{Status: "True"}}
		for _, c := range containers {
			s.Containers = append(s.Containers, trial.Started{Name: c, Running: true, Since: since})
		}
		return s
	}
	s := &seen{
		slices: []offer.Slice{{Name: "s", Driver: offer.Driver, Pool: "gpu-01", Node: "gpu-01", Generation: 1, PoolSlices: 1, Devices: []offer.Device{
			{Name: "gpu-0", Type: "gpu", UUID: uuidA}, {Name: "gpu-1", Type: "gpu", UUID: uuidB},
		}}},
		room: room{Rooms: []offer.Room{{Node: "gpu-01", Open: true, Offered: 2}}, Node: "gpu-01"},
		pods: map[string]*trial.Seen{
			claimant: pod(claimant, at, claimed, sibling), bystander: pod(bystander, at.Add(time.Second), looker), asking: pod(asking, at.Add(time.Second), looker),
		},
		sights: map[string]*sight{
			claimant + "/" + claimed: {UID: "uid-claimant", Sight: Sight{Files: []string{"/dev/nvidia1"}, UUIDs: []string{uuidB}, Tool: toolLists}},
			claimant + "/" + sibling: nothing("uid-claimant"), bystander + "/" + looker: nothing("uid-bystander"), asking + "/" + looker: nothing("uid-asking"),
		},
		answers: map[string]admission{plain: {Taken: true}, hostPath: refusal, privileged: refusal},
	}
	s.pods[claimant].Claim = &trial.ClaimState{Name: "c", UID: "c", Allocated: true, Devices: []trial.Device{{Driver: offer.Driver, Pool: "gpu-01", Device: "gpu-1"}}, ReservedFor: []string{"uid-claimant"}}
	for _, name := range []string{claimant, bystander, asking} {
		later := *s.pods[name]
		later.At = at.Add(10 * time.Second)
		s.together = append(s.together, later)
	}
	return s
}

func (s *seen) observations(t *testing.T) []check.Observation {
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
	add(kindRoom, "cluster", s.room)
	for _, name := range []string{plain, hostPath, privileged} {
		add(kindAdmission, name, s.answers[name])
	}
	for _, name := range []string{claimant, bystander, asking} {
		add(kindPod, name, s.pods[name])
	}
	for _, target := range []string{claimant + "/" + claimed, claimant + "/" + sibling, bystander + "/" + looker, asking + "/" + looker} {
		add(kindSight, target, s.sights[target])
	}
	add(kindTogether, "gpu-01", s.together)
	return out
}

func TestJudge(t *testing.T) {
	t.Parallel()
	leak := Sight{Files: []string{"/dev/nvidia0", "/dev/nvidia1"}, UUIDs: []string{uuidA, uuidB}, Tool: toolLists}
	tests := map[string]struct {
		alter   func(*seen)
		want    check.Verdict
		suspect string
		says    string
	}{
		"healthy":               {want: check.Passed},
		"another word for none": {alter: func(s *seen) { s.sights["bystander/looker"].Tool = toolNone }, want: check.Passed},
		"nothing was recorded": {alter: func(s *seen) {
			s.without = []string{kindSlices, kindRoom, kindPod, kindSight, kindTogether, kindAdmission}
		}, want: check.Unobserved},
		"slices can't be read":   {alter: func(s *seen) { s.unreadable = []string{kindSlices} }, want: check.Unobserved},
		"what is free, neither":  {alter: func(s *seen) { s.unreadable = []string{kindRoom} }, want: check.Unobserved},
		"no GPU is free":         {alter: func(s *seen) { s.room.Node = ""; s.room.Rooms[0].Holders = []string{"claim team/gpu"} }, want: check.Unobserved, suspect: "free GPUs", says: "claim team/gpu"},
		"the slice has no UUIDs": {alter: func(s *seen) { s.slices[0].Devices[1].UUID = "" }, want: check.Unobserved, says: "no uuid"},

		// With a claim: its GPU, and no other.
		"no GPU with a claim":        {alter: func(s *seen) { s.sights["claimant/claimed"].Sight = Sight{Tool: toolAbsent} }, want: check.Failed, suspect: "gpu-01/DRA driver", says: "sees no GPU"},
		"another GPU":                {alter: func(s *seen) { s.sights["claimant/claimed"].UUIDs = []string{uuidA} }, want: check.Failed, suspect: "gpu-01/DRA driver", says: uuidA},
		"another one, too":           {alter: func(s *seen) { s.sights["claimant/claimed"].Sight = leak }, want: check.Failed, suspect: "gpu-01/DRA driver"},
		"another one's file":         {alter: func(s *seen) { s.sights["claimant/claimed"].Files = leak.Files }, want: check.Failed, suspect: "gpu-01/DRA driver"},
		"its file is not there":      {alter: func(s *seen) { s.sights["claimant/claimed"].Files = nil }, want: check.Failed, suspect: "gpu-01/DRA driver"},
		"its file and no tool":       {alter: func(s *seen) { s.sights["claimant/claimed"].UUIDs, s.sights["claimant/claimed"].Tool = nil, toolAbsent }, want: check.Failed, suspect: "gpu-01/DRA driver"},
		"with a claim, it is broken": {alter: func(s *seen) { s.sights["claimant/claimed"].UUIDs, s.sights["claimant/claimed"].Tool = nil, toolFailed }, want: check.Unobserved},
		"its log is cut":             {alter: func(s *seen) { s.unreadable = []string{"claimant/claimed"} }, want: check.Unobserved},
		"its log was not read":       {alter: func(s *seen) { s.without = []string{"claimant/claimed"} }, want: check.Unobserved},
		"its log is another pod's":   {alter: func(s *seen) { s.sights["claimant/claimed"].UID = "uid-old" }, want: check.Unobserved, says: "another pod's"},
		// aicr: that nothing was allocated does not fail there.
		"it runs, with nothing allocated": {alter: func(s *seen) { s.pods[claimant].Claim = &trial.ClaimState{UID: "c"} }, want: check.Failed, suspect: "ResourceClaim of ns/claimant"},
		"it runs without a claim":         {alter: func(s *seen) { s.pods[claimant].Claim = nil }, want: check.Failed, suspect: "ResourceClaim of ns/claimant"},
		"two were allocated":              {alter: func(s *seen) { s.pods[claimant].Claim.Devices = append(s.pods[claimant].Claim.Devices, trial.Device{}) }, want: check.Failed, suspect: "ResourceClaim"},
		"allocated to another":            {alter: func(s *seen) { s.pods[claimant].Claim.ReservedFor = []string{"uid-x"} }, want: check.Failed, suspect: "ResourceClaim"},
		"a device of no slice":            {alter: func(s *seen) { s.pods[claimant].Claim.Devices[0].Device = "gpu-5" }, want: check.Failed, says: "gpu-5"},
		"a foreign device":                {alter: func(s *seen) { s.pods[claimant].Claim.Devices[0].Driver = "dra.net" }, want: check.Failed, says: "dra.net"},
		"refused, though a GPU is free": {alter: func(s *seen) {
			s.pods[claimant].Phase, s.pods[claimant].Claim.Allocated, s.pods[claimant].Scheduled = "Pending", false, trial.Scheduled{Status: "False", Reason: "Unschedulable", Message: "cannot allocate all claims"}
		}, want: check.Failed, says: "cannot allocate all claims"},
		"it does not run":               {alter: func(s *seen) { s.pods[claimant].Phase = "Pending" }, want: check.Unobserved, suspect: "pod ns/claimant"},
		"it runs elsewhere":             {alter: func(s *seen) { s.pods[claimant].Node = "gpu-02" }, want: check.Unobserved, says: "gpu-02"},
		"one of its containers has not": {alter: func(s *seen) { s.pods[claimant].Containers[1].Running = false }, want: check.Unobserved},
		"it was not tried":              {alter: func(s *seen) { s.without = []string{claimant} }, want: check.Unobserved},

		// Beside it in the same pod.
		"the sibling sees it":        {alter: func(s *seen) { s.sights["claimant/sibling"].Sight = s.sights["claimant/claimed"].Sight }, want: check.Failed, suspect: "gpu-01/DRA driver", says: "allocated to another"},
		"the sibling sees a file":    {alter: func(s *seen) { s.sights["claimant/sibling"].Files = []string{"/dev/nvidia1"} }, want: check.Failed, suspect: "gpu-01/DRA driver"},
		"the sibling's log is cut":   {alter: func(s *seen) { s.unreadable = []string{"claimant/sibling"} }, want: check.Unobserved},
		"the sibling was not read":   {alter: func(s *seen) { s.without = []string{"claimant/sibling"} }, want: check.Unobserved},
		"the sibling's tool is odd":  {alter: func(s *seen) { s.sights["claimant/sibling"].Tool = toolFailed }, want: check.Unobserved},
		"the sibling's has no words": {alter: func(s *seen) { s.sights["claimant/sibling"].Tool = "" }, want: check.Unobserved},

		// Without a claim.
		"a bystander sees all": {alter: func(s *seen) { s.sights["bystander/looker"].Sight = leak }, want: check.Failed, suspect: "gpu-01/container runtime"},
		"a bystander sees a free one": {alter: func(s *seen) {
			s.sights["bystander/looker"].UUIDs, s.sights["bystander/looker"].Tool = []string{uuidA}, toolLists
		}, want: check.Failed, suspect: "gpu-01/container runtime"},
		"the bystander does not run": {alter: func(s *seen) { s.pods[bystander].Phase = "Failed" }, want: check.Unobserved, suspect: "pod ns/bystander"},
		"the bystander is elsewhere": {alter: func(s *seen) { s.pods[bystander].Node = "gpu-02" }, want: check.Unobserved},
		"the bystander's log is cut": {alter: func(s *seen) { s.unreadable = []string{"bystander/looker"} }, want: check.Unobserved},
		"no bystander":               {alter: func(s *seen) { s.without = []string{bystander, "bystander/looker"} }, want: check.Unobserved},
		"who asks for all sees all":  {alter: func(s *seen) { s.sights["asking/looker"].Sight = leak }, want: check.Failed, suspect: "gpu-01/container toolkit", says: "NVIDIA_VISIBLE_DEVICES"},
		"who asks is not seen":       {alter: func(s *seen) { s.unreadable = []string{"asking/looker"} }, want: check.Unobserved},
		"who asks does not run":      {alter: func(s *seen) { s.pods[asking].Containers = nil }, want: check.Unobserved},
		"nobody asks":                {alter: func(s *seen) { s.without = []string{asking} }, want: check.Unobserved},

		// At the same time.
		"not looked at again":        {alter: func(s *seen) { s.without = []string{kindTogether} }, want: check.Unobserved},
		"the claimant has ended":     {alter: func(s *seen) { s.together[0].Phase = "Succeeded" }, want: check.Unobserved, suspect: "pod ns/claimant"},
		"the claimant is another":    {alter: func(s *seen) { s.together[0].UID = "uid-new" }, want: check.Unobserved, suspect: "pod ns/claimant"},
		"the claimant was restarted": {alter: func(s *seen) { s.together[0].Containers = []trial.Started{{Running: true, Restarts: 1}} }, want: check.Unobserved},
		"its claim is given back":    {alter: func(s *seen) { s.together[0].Claim = nil }, want: check.Unobserved},
		"who asks has ended":         {alter: func(s *seen) { s.together = s.together[:2] }, want: check.Unobserved, suspect: "pod ns/asking"},
		"the bystander came too early": {alter: func(s *seen) {
			s.together[1].Containers = []trial.Started{{Running: true, Since: at.Add(-time.Second)}}
		}, want: check.Unobserved, says: "before the pod with the claim"},

		// Around it all.
		"a host path is taken":          {alter: func(s *seen) { s.answers[hostPath] = admission{Taken: true} }, want: check.Failed, suspect: "pod security", says: "host path /dev"},
		"privileged is taken":           {alter: func(s *seen) { s.answers[privileged] = admission{Taken: true} }, want: check.Failed, suspect: "pod security", says: "privileged"},
		"refused by something else":     {alter: func(s *seen) { s.answers[hostPath] = admission{Code: 403, Message: "exceeded quota"} }, want: check.Unobserved, says: "exceeded quota"},
		"refused with another code":     {alter: func(s *seen) { s.answers[hostPath] = admission{Code: 422, Message: "PodSecurity"} }, want: check.Unobserved},
		"a plain pod is refused":        {alter: func(s *seen) { s.answers[plain] = admission{Code: 403, Message: "no dry run here"} }, want: check.Unobserved, says: "no dry run here"},
		"a plain pod was not asked for": {alter: func(s *seen) { s.without = []string{plain} }, want: check.Unobserved},
		"the host path was not":         {alter: func(s *seen) { s.unreadable = []string{hostPath} }, want: check.Unobserved},
		"privileged was not":            {alter: func(s *seen) { s.without = []string{privileged} }, want: check.Unobserved},
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
				t.Errorf("findings don't name %q and say %q:\n%s", tt.suspect, tt.says, text)
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
