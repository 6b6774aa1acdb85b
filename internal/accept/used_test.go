package accept

import (
	"maps"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// A run of a site with groups is judged against the profiles in its evidence, not against those of
// this version, and refused without them.
func TestUsedGroups(t *testing.T) {
	t.Parallel()
	raw := func(name string) []byte {
		data, err := profile.Raw(name)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	text := strings.Replace(string(site.Example()), "\nreach:\n", "\ngroups: [{name: new, profile: h200-sxm-ndr400, nodes: [gpu-04]}]\n\nreach:\n", 1)
	inputs := map[string][]byte{"profile-new.yaml": raw("h200-sxm-ndr400")}
	used := func(inputs map[string][]byte) (*site.Site, error) {
		s, _, err := Used(&evidence.Bundle{Site: []byte(text), Profile: raw("h100-sxm-ndr400"), Inputs: inputs})
		return s, err
	}
	s, err := used(inputs)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Groups[0].Figures.Name; got != "h200-sxm-ndr400" {
		t.Errorf("the group has profile %s", got)
	}
	changed := maps.Clone(inputs)
	changed["profile-new.yaml"] = []byte(strings.Replace(string(inputs["profile-new.yaml"]), "name: h200-sxm-ndr400", "name: of-then", 1))
	if s, err := used(changed); err != nil || s.Groups[0].Figures.Name != "of-then" {
		t.Errorf("the profile of the evidence is not used: %v", err)
	}
	if _, err := used(nil); err == nil || !strings.Contains(err.Error(), "profile-new.yaml, the profile of group new") {
		t.Errorf("without the profile of the group: %v", err)
	}
}
