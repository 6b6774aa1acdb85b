package cmdutil

import (
	"github.com/firstlight/firstlight/internal/pregate"
	"github.com/firstlight/firstlight/internal/profile"
)

// loadProfile loads the files that the site's run is judged against: its profiles, and the digests of the files of its preparations.
func (t *Target) loadProfile() (err error) {
	if t.ProfileFile, err = profile.Raw(t.Site.Profile); err != nil {
		return err
	}
	t.Inputs = map[string][]byte{}
	for _, g := range t.Site.Groups {
		if t.Inputs[g.ProfileFile()], err = profile.Raw(g.Profile); err != nil {
			return err
		}
	}
	digests, err := pregate.Digests(t.Site)
	if err != nil {
		return err
	}
	if digests != nil {
		t.Inputs[pregate.DigestsFile] = digests
	}
	t.Profile, err = profile.Load(t.Site.Profile)
	return err
}
