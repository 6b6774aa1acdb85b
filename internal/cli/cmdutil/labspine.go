package cmdutil

import (
	"fmt"
	"path/filepath"

	"github.com/firstlight/firstlight/internal/lab"
	"github.com/firstlight/firstlight/internal/lab/embedded"
	"github.com/firstlight/firstlight/internal/site"
)

// labSpine passes k3s to the lab's own process; a RayCluster is an extra.
func (f *TargetFlags) labSpine() []string {
	if f.spine != site.SpineK3s {
		return nil
	}
	return []string{"--spine=" + f.spine}
}

// RequireSpine refuses another spine than that of a running lab.
func RequireSpine(h *lab.Handle, want string) error {
	s, err := site.Load(filepath.Join(h.Dir, embedded.SiteFile))
	if err != nil {
		return Unobserved(fmt.Errorf("cannot read the site of lab %s: %w", h.Name, err))
	}
	if s.Spine != want {
		return otherSpine(h.Name, s.Spine, want)
	}
	return nil
}

func otherSpine(name, have, want string) error {
	return UsageErrorf("lab %[1]s is running with spine %[2]s, not %[3]s: stop it (firstlight lab down --name %[1]s), or start another lab (firstlight lab up --name NAME --spine %[3]s) and use it (--lab NAME)", name, have, want)
}
