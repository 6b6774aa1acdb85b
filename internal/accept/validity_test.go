package accept

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/plan"
)

// ruled is a check with a rule of its version of firstlight, or of a part of the site that may change.
type ruled struct {
	look
	rule check.Judgement
}

func (r ruled) Judge([]check.Observation) check.Judgement { return r.rule }

func planWith(rule check.Judgement) func(PlanContext) (plan.Plan, error) {
	return func(PlanContext) (plan.Plan, error) {
		return plan.Plan{Name: "playbook", Steps: []plan.Step{{Check: ruled{look("facility"), rule}}, {Check: look("b")}, {Check: look("c")}}}, nil
	}
}

// A verdict is kept only if the checks of this run reach it again from its observations. Regression: the
// pass of a version with an error was reported as one of the version without, and the run did not replay.
func TestKeptVerdictsAreJudgedAgain(t *testing.T) {
	t.Parallel()
	was := check.Pass("seen")
	for name, tt := range map[string]struct {
		rule  check.Judgement
		names string
	}{
		"the same":        {rule: was},
		"another verdict": {rule: check.Fail("not seen"), names: "facility is judged differently: verdict passed, now failed: not seen"},
		"another reason":  {rule: check.Pass("seen twice"), names: `facility is judged differently: reason "seen", now "seen twice"`},
	} {
		for _, how := range []string{"resumed by itself", "--resume", "--from"} {
			t.Run(name+"/"+how, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				then, now := optionsAt(t, dir, day), optionsAt(t, dir, day.Add(time.Hour))
				then.Playbook, now.Playbook = planWith(was), planWith(tt.rule)
				if how != "--from" {
					then.Until = "b"
				}
				first, err := Run(t.Context(), then)
				if err != nil {
					t.Fatal(err)
				}
				switch how {
				case "--resume":
					now.Resume = first.Run
				case "--from":
					now.From = "c"
				}
				var notes []string
				now.Note = func(text string) { notes = append(notes, text) }
				second, err := Run(t.Context(), now)
				said := strings.Join(notes, "\n")
				if err != nil {
					said += err.Error()
				}
				_, refused := errors.AsType[*InputError](err)
				if refused != (tt.names != "" && how != "resumed by itself") || !strings.Contains(said, tt.names) {
					t.Errorf("refused %t, and says %q: %v", refused, said, err)
				}
				if kept := strings.Contains(strings.Join(second.NarrowedBy, "\n"), "kept"); kept != (tt.names == "") {
					t.Errorf("narrowed by %q", second.NarrowedBy)
				}
			})
		}
	}
}

// The later gates of a resumed run are judged with the site and the version that resumed it: these are the
// ones that the run records, and its reports are those of that version.
func TestAResumedRunRecordsItsSiteAndVersion(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := optionsAt(t, dir, day)
	o.Tool, o.Until = "v1", "facility"
	first, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	o = optionsAt(t, dir, day.Add(time.Hour))
	o.Tool, o.SiteFile = "v2", append([]byte("# another address\n"), o.SiteFile...)
	second, err := Run(t.Context(), o)
	if err != nil || second.Run != first.Run {
		t.Fatalf("%+v, %v", second, err)
	}
	b, err := evidence.Load(filepath.Join(dir, second.Run))
	if err != nil {
		t.Fatal(err)
	}
	if h := b.Header; h.Tool != "v2" || !slices.Equal(h.EarlierTools, []string{"v1"}) || !bytes.Equal(b.Site, o.SiteFile) {
		t.Errorf("%q after %q, with the site\n%s", h.Tool, h.EarlierTools, b.Site)
	}
	claims, found, err := b.CompareReports("v2", nil)
	if err != nil || len(found) != 0 || len(claims) != 1 || claims[0].Basis != evidence.Observed {
		t.Errorf("%+v, %+v, %v", claims, found, err)
	}
}
