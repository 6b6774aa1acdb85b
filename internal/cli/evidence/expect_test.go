package evidence

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/pipeline"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/validate"
)

// The profiles of the groups of --site are those that the verifier has, not those of the bundle.
func TestProfilesOfGroupsOfTheGivenSite(t *testing.T) {
	t.Parallel()
	text := string(site.Example())
	grouped := strings.NewReplacer("# groups:", "groups:", "#   - {name: h200", "  - {name: h200").Replace(text)
	path := filepath.Join(t.TempDir(), "site.yaml")
	if err := os.WriteFile(path, []byte(grouped), 0o600); err != nil {
		t.Fatal(err)
	}
	e, err := expectedOf(path, "", "")
	want, rawErr := profile.Raw("h200-sxm-ndr400")
	if err != nil || rawErr != nil || e.Unread != "" || len(e.Profiles) != 1 || !bytes.Equal(e.Profiles["profile-h200.yaml"], want) {
		t.Errorf("%q %d, %v %v", e.Unread, len(e.Profiles), err, rawErr)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(grouped, "h200-sxm-ndr400", "./none.yaml", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if e, err := expectedOf(path, "", ""); err != nil || e.Unread == "" {
		t.Errorf("a profile that does not exist: %+v, %v", e, err)
	}
}

// Only the groups of --site are read. Regression: a site whose profile is a file that the verifier does not have, or
// that another version of firstlight validates differently, could not be verified (exit 3).
func TestOnlyTheGroupsOfTheGivenSiteAreRead(t *testing.T) {
	t.Parallel()
	h200 := "groups: [{name: h200, profile: h200-sxm-ndr400, nodes: [gpu-03], later: 1}]\n"
	for name, tt := range map[string]struct {
		site   string
		groups int
		unread string
	}{
		"a profile that is elsewhere":      {strings.Replace(string(site.Example()), "profile: ", "profile: ./elsewhere/", 1), 0, ""},
		"a key of another version":         {"apiVersion: later\nprofile: ./elsewhere.yaml\n" + h200, 1, ""},
		"groups of which one is elsewhere": {h200[:len(h200)-2] + ", {name: b, profile: ./elsewhere.yaml}]\n", 0, "profile of group b"},
		"a group without a profile":        {"groups: [{name: b}]\n", 0, "profile of group b"},
		"groups of another version":        {"groups: {h200: h200-sxm-ndr400}\n", 0, "read the groups of the site"},
		"groups twice":                     {h200 + h200, 0, "already defined"},
		"not YAML":                         {"groups: [\n", 0, "read the groups of the site"},
		"nothing":                          {"", 0, ""},
	} {
		path := filepath.Join(t.TempDir(), "site.yaml")
		if err := os.WriteFile(path, []byte(tt.site), 0o600); err != nil {
			t.Fatal(err)
		}
		e, err := expectedOf(path, "", "")
		if err != nil || len(e.Profiles) != tt.groups || (e.Unread == "") != (tt.unread == "") || !strings.Contains(e.Unread, tt.unread) {
			t.Errorf("%s: %q %d, %v", name, e.Unread, len(e.Profiles), err)
		}
	}
}

// A reason with spaces around it is the same in the case, which has it without, and in the command.
func TestReasonsAreComparedWithoutSpaces(t *testing.T) {
	t.Parallel()
	s, p := exampleSite(t)
	for given, same := range map[string]bool{"x=y": true, "x= y ": true, "x=y\n": true, "x=z": false, "w= y": false} {
		c := parseCommand([]string{"firstlight", "validate", "--not-applicable", given})
		named := false
		found, _ := c.compareCase(validate.Case{NotApplicable: map[string]string{"x": "y"}}, s, p, nil)
		for _, d := range found {
			named = named || strings.Contains(d.Message, "x is not applicable (y), but not by the command")
		}
		if named == same {
			t.Errorf("%q: refused %t", given, named)
		}
	}
}

// The order of a run of an earlier version is accepted as it was. Regression: in November 2026 every one was refused.
func TestTheOrderOfAnEarlierVersionIsAccepted(t *testing.T) {
	t.Parallel()
	s, p := exampleSite(t)
	for name, tt := range map[string]struct {
		needs, continues []string
		accepted         bool
	}{
		"now":                  {[]string{"resources", "autoscaling", "health"}, []string{"autoscaling", "health"}, true},
		"before":               {[]string{"autoscaling", "health"}, []string{"health"}, true},
		"fewer needs":          {[]string{"health"}, []string{"health"}, false},
		"autoscaling may fail": {[]string{"autoscaling", "health"}, []string{"autoscaling", "health"}, false},
	} {
		order, err := pipeline.OrderFor(pipeline.Training, cmdutil.GPUs(s, p), nil)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(order.Steps, func(s pipeline.Step) bool { return s.Name == "conformance" })
		order.Steps[i].Needs, order.Steps[i].ContinueOnFailure = tt.needs, tt.continues
		problems, _ := parseCommand([]string{"firstlight", "validate", "--intent", "training"}).compareCase(validate.Case{Order: order}, s, p, nil)
		differs := slices.ContainsFunc(problems, func(d evidence.PlanProblem) bool {
			return strings.Contains(d.Message, "the steps differ")
		})
		if differs == tt.accepted {
			t.Errorf("%s: differs %t", name, differs)
		}
	}
}

func exampleSite(t *testing.T) (*site.Site, *profile.Profile) {
	t.Helper()
	s, err := site.Parse("site.yaml", site.Example())
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.Load(s.Profile)
	if err != nil {
		t.Fatal(err)
	}
	return s, p
}
