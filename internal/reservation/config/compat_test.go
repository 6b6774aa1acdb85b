package config_test

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/reservation/config"
)

const exampleCompat = "../../../examples/compat.yaml"

func loadCompat(t *testing.T) *config.Compat {
	t.Helper()
	f, err := config.LoadCompat(exampleCompat)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestDecide(t *testing.T) {
	t.Parallel()
	f := loadCompat(t)
	tests := []struct {
		name    string
		lane    config.Cloud
		intent  config.Intent
		version string
		run     bool
		why     string // of the error, where there is one
		err     bool
	}{
		{"below", config.GCP, config.Training, "v0.21.9", false, "v0.21.9 is below v0.22.0", false},
		{"far below, and larger as a text", config.GCP, config.Training, "v0.9.0", false, "below", false},
		{"the floor", config.GCP, config.Training, "v0.22.0", true, "at or above", false},
		{"above", config.GCP, config.Training, "v1.0.0", true, "at or above", false},
		{"numbers are compared, not texts", config.Azure, config.Inference, "v0.100.0", true, "at or above", false},
		{"another intent of the lane", config.GCP, config.Inference, "v0.1.0", true, "no floor", false},
		{"a lane without floors", config.AWS, config.Training, "v0.1.0", true, "no floor", false},
		{"main", config.GCP, config.Training, "main", true, "main branch", false},
		{"a branch", config.GCP, config.Training, "master", false, `invalid release "master"`, true},
		{"nothing", config.GCP, config.Training, "", false, "invalid release", true},
		{"no version, and no floor either", config.AWS, config.Training, "latest", false, "invalid release", true},
		{"without v", config.GCP, config.Training, "0.22.0", false, "invalid release", true},
		{"a candidate of the floor", config.GCP, config.Training, "v0.22.0-rc.1", false, "must be a stable release", true},
		{"a build", config.GCP, config.Training, "v0.22.0+x", false, "must be a stable release", true},
		{"too short", config.GCP, config.Training, "v0.22", false, "invalid release", true},
		{"a number beyond all", config.GCP, config.Training, "v99999999999999999999.0.0", false, "invalid release", true},
		{"unknown lane", "gpc", config.Training, "v9.0.0", false, `unknown lane "gpc"`, true},
		{"unknown intent", config.GCP, "serving", "main", false, `unknown intent "serving"`, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d, err := f.Decide(tt.lane, tt.intent, tt.version)
			text := d.Reason
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
	broken := &config.Compat{Floors: []config.Floor{{Lane: config.GCP, Intents: []config.Intent{config.Training}, MinRelease: "v0.x", Reason: "built in Go"}}}
	for name, f := range map[string]*config.Compat{"none were read": nil, "an invalid floor": broken} {
		for _, intent := range config.Intents() { // of a broken file no part is believed
			if d, err := f.Decide(config.GCP, intent, "v1.0.0"); err == nil || d.Run {
				t.Errorf("%s: %s is run: %v", name, intent, d)
			}
		}
	}
	if d, err := (&config.Compat{}).Decide(config.GCP, config.Training, "v0.1.0"); err != nil || !d.Run {
		t.Errorf("no floors hold something back: %v, %v", d, err)
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	tags := []string{"v0.18.1", "v0.17.0", "v0.18.0", "v0.19.0-rc.1", "nightly", "v0.20.0"}
	for floor, want := range map[string]struct {
		standing config.FloorState
		tags     []string
	}{
		"v0.18.0": {config.FloorActive, tags},
		"v0.20.0": {config.FloorActive, tags},
		"v0.20.1": {config.FloorPending, tags},
		"v0.21.0": {config.FloorPending, tags},
		"v1.0.0":  {config.FloorPending, tags},
		"v0.22.0": {config.FloorTooHigh, tags},
		"v0.21.1": {config.FloorTooHigh, tags},
		"v0.19.0": {config.FloorTooHigh, tags}, // only a candidate of it was made, and it was overtaken
		"v0.17.0": {config.FloorUnused, tags},
		"v0.1.0":  {config.FloorUnused, tags},
		"v0.18.2": {config.FloorTooHigh, tags},
		"v0.16.0": {config.FloorUnknown, nil},
		"v0.16.1": {config.FloorUnknown, []string{"nightly", "v0.17.0-rc.1"}},
		"0.18.0":  {config.FloorUnknown, tags},
	} {
		f := config.Compat{Floors: []config.Floor{{Lane: config.GCP, MinRelease: floor}}}
		got := f.Status(want.tags)
		if len(got) != 1 || got[0].State != want.standing || got[0].Reason == "" {
			t.Errorf("%s: got %+v, want %s", floor, got, want.standing)
		}
		if bad := want.standing == config.FloorTooHigh || want.standing == config.FloorUnknown; got[0].State.Invalid() != bad {
			t.Errorf("%s is an error: %v", got[0].State, !bad)
		}
	}
}
