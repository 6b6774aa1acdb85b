package detect

import (
	"path"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/distribution"
	"github.com/firstlight/firstlight/internal/site"
)

// provider is the known cloud whose GPU nodes these are, with its device plugin in DaemonSets of a
// namespace; without sets, with the plugin in the nodes' image.
func provider(machines []machine, namespace string, sets []string) (site.Provider, bool) {
	all, err := site.Providers()
	if err != nil || len(machines) == 0 {
		return site.Provider{}, false
	}
	i := slices.IndexFunc(all, func(p site.Provider) bool {
		return inPlace(p, namespace, sets) && !slices.ContainsFunc(machines, func(m machine) bool { return !isOf(p, m) })
	})
	if i < 0 {
		return site.Provider{}, false
	}
	return all[i], true
}

func inPlace(p site.Provider, namespace string, sets []string) bool {
	if p.Plugin == nil {
		return len(sets) == 0 && len(p.Labels) > 0
	}
	return namespace == p.Plugin.Namespace && len(sets) > 0 && !slices.ContainsFunc(sets, func(set string) bool {
		return !slices.ContainsFunc(p.Plugin.DaemonSets, func(pattern string) bool {
			ok, err := path.Match(pattern, set)
			return ok && err == nil
		})
	})
}

// isOf reports whether a node has the properties of a provider's GPU nodes.
func isOf(p site.Provider, m machine) bool {
	return strings.HasPrefix(m.node.Spec.ProviderID, p.ProviderID) && runs(p, m) &&
		!slices.ContainsFunc(p.Labels, func(l site.ProviderLabel) bool { return !l.On(m.node.Labels) }) &&
		!slices.ContainsFunc(p.Without, func(l site.ProviderLabel) bool { return l.On(m.node.Labels) })
}

// runs reports whether a node runs the distribution of the provider.
func runs(p site.Provider, m machine) bool {
	if p.Distribution == "" {
		return true
	}
	n, err := distribution.NodeOf(m.node)
	if err != nil {
		return false
	}
	found, err := distribution.Of(n)
	return err == nil && found.Name == p.Distribution
}
