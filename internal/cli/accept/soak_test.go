package accept

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/accept"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Only gate telemetry of a Kubernetes site raises alerts, and only there the consent can be given.
func TestSoakConsent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file   []byte
		change func(*site.Site)
		asks   bool
	}{
		"Slurm":                {site.SlurmExample(), func(*site.Site) {}, false},
		"Kubernetes":           {site.Example(), func(s *site.Site) { s.Telemetry.Alert.PagesNobody = false }, true},
		"a receiver of a test": {site.Example(), func(s *site.Site) { s.Telemetry.Alert.PagesNobody = true }, false},
	} {
		s, err := site.Parse("s.yaml", c.file)
		if err != nil {
			t.Fatal(err)
		}
		c.change(s)
		p, err := profile.Load(s.Profile)
		if err != nil {
			t.Fatal(err)
		}
		err = soakConsent(accept.Options{Site: s, Profile: p})
		if c.asks != (err != nil) || c.asks && !strings.Contains(err.Error(), "telemetry.alert.pagesNobody") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
