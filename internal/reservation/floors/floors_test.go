package floors_test

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/reservation/floors"
	"github.com/firstlight/firstlight/internal/reservation/registry"
)

const example = "../../../examples/compat.yaml"

func load(t *testing.T) *floors.Floors {
	t.Helper()
	f, err := floors.Load(example)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestDecide(t *testing.T) {
	t.Parallel()
	f := load(t)
	tests := []struct {
		name    string
		lane    registry.Cloud
		intent  registry.Intent
		version string
		run     bool
		why     string // of the error, where there is one
		err     bool
	}{
		{"below", registry.GCP, registry.Training, "v0.21.9", false, "v0.21.9 is below v0.22.0", false},
		{"far below, and larger as a text", registry.GCP, registry.Training, "v0.9.0", false, "below", false},
		{"the floor", registry.GCP, registry.Training, "v0.22.0", true, "not below", false},
		{"above", registry.GCP, registry.Training, "v1.0.0", true, "not below", false},
		{"numbers are compared, not texts", registry.Azure, registry.Inference, "v0.100.0", true, "not below", false},
		{"another intent of the lane", registry.GCP, registry.Inference, "v0.1.0", true, "no floor", false},
		{"a lane without floors", registry.AWS, registry.Training, "v0.1.0", true, "no floor", false},
		{"main", registry.GCP, registry.Training, "main", true, "main branch", false},
		{"a branch", registry.GCP, registry.Training, "master", false, `"master" is no release`, true},
		{"nothing", registry.GCP, registry.Training, "", false, "no release", true},
		{"no version, and no floor either", registry.AWS, registry.Training, "latest", false, "no release", true},
		{"without v", registry.GCP, registry.Training, "0.22.0", false, "no release", true},
		{"a candidate of the floor", registry.GCP, registry.Training, "v0.22.0-rc.1", false, "no stable release", true},
		{"a build", registry.GCP, registry.Training, "v0.22.0+x", false, "no stable release", true},
		{"too short", registry.GCP, registry.Training, "v0.22", false, "no release", true},
		{"a number beyond all", registry.GCP, registry.Training, "v99999999999999999999.0.0", false, "no release", true},
		{"unknown lane", "gpc", registry.Training, "v9.0.0", false, `no lane "gpc"`, true},
		{"unknown intent", registry.GCP, "serving", "main", false, `no intent "serving"`, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d, err := f.Decide(tt.lane, tt.intent, tt.version)
			text := d.Why
			if err != nil {
				text = err.Error()
			}
			if d.Run != tt.run || (err != nil) != tt.err || !strings.Contains(text, tt.why) {
				t.Errorf("got %v, %v, want %v: %s", d, err, tt.run, tt.why)
			}
		})
	}
}

func TestFloorsThatCantBeComparedHoldEverythingBack(t *testing.T) {
	t.Parallel()
	broken := &floors.Floors{Floors: []floors.Floor{{Lane: registry.GCP, Intents: []registry.Intent{registry.Training}, MinRelease: "v0.x", Reason: "built in Go"}}}
	for name, f := range map[string]*floors.Floors{"none were read": nil, "a floor that is no release": broken} {
		for _, intent := range registry.Intents() { // of a broken file no part is believed
			if d, err := f.Decide(registry.GCP, intent, "v1.0.0"); err == nil || d.Run {
				t.Errorf("%s: %s is run: %v", name, intent, d)
			}
		}
	}
	if d, err := (&floors.Floors{}).Decide(registry.GCP, registry.Training, "v0.1.0"); err != nil || !d.Run {
		t.Errorf("no floors hold something back: %v, %v", d, err)
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	tags := []string{"v0.18.1", "v0.17.0", "v0.18.0", "v0.19.0-rc.1", "nightly", "v0.20.0"}
	for floor, want := range map[string]struct {
		standing floors.Standing
		tags     []string
	}{
		"v0.18.0": {floors.Holds, tags},
		"v0.20.0": {floors.Holds, tags},
		"v0.20.1": {floors.Awaited, tags},
		"v0.21.0": {floors.Awaited, tags},
		"v1.0.0":  {floors.Awaited, tags},
		"v0.22.0": {floors.OverHigh, tags},
		"v0.21.1": {floors.OverHigh, tags},
		"v0.19.0": {floors.OverHigh, tags}, // only a candidate of it was made, and it was overtaken
		"v0.17.0": {floors.Inert, tags},
		"v0.1.0":  {floors.Inert, tags},
		"v0.18.2": {floors.OverHigh, tags},
		"v0.16.0": {floors.Inconclusive, nil},
		"v0.16.1": {floors.Inconclusive, []string{"nightly", "v0.17.0-rc.1"}},
		"0.18.0":  {floors.Inconclusive, tags},
	} {
		f := floors.Floors{Floors: []floors.Floor{{Lane: registry.GCP, MinRelease: floor}}}
		got := f.Judge(want.tags)
		if len(got) != 1 || got[0].Standing != want.standing || got[0].Why == "" {
			t.Errorf("%s: got %+v, want %s", floor, got, want.standing)
		}
		if bad := want.standing == floors.OverHigh || want.standing == floors.Inconclusive; got[0].Standing.Err() != bad {
			t.Errorf("%s is an error: %v", got[0].Standing, !bad)
		}
	}
}
