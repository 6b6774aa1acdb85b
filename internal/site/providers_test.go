package site

import (
	"path"
	"slices"
	"strings"
	"testing"
)

// Every provider has a source, a way to tell its nodes, and remedies; patterns are valid.
func TestProviders(t *testing.T) {
	t.Parallel()
	all, err := Providers()
	if err != nil || len(all) < 5 {
		t.Fatalf("%d providers: %v", len(all), err)
	}
	var names []string
	for _, p := range all {
		names = append(names, p.Name)
		if p.Name == "" || p.What == "" || !strings.HasSuffix(p.ProviderID, "://") || !strings.Contains(p.Source, "https://") {
			t.Errorf("%+v: name, what, providerID and source must be set", p)
		}
		if p.DriverInImage != (p.DriverRemedy != "") {
			t.Errorf("%s: a driver in the image needs a remedy for a second one", p.Name)
		}
		for _, l := range slices.Concat(p.Labels, p.Without) {
			if l.Key == "" || l.Remedy == "" {
				t.Errorf("%s: a label without key or remedy: %+v", p.Name, l)
			}
		}
		if p.Plugin == nil {
			continue
		}
		if p.Plugin.Namespace == "" || len(p.Plugin.DaemonSets) == 0 {
			t.Errorf("%s: the device plugin has no place", p.Name)
		}
		for _, pattern := range p.Plugin.DaemonSets {
			if _, err := path.Match(pattern, ""); err != nil {
				t.Errorf("%s: %v", p.Name, err)
			}
		}
	}
	if slices.Sort(names); len(slices.Compact(names)) != len(all) {
		t.Errorf("a name twice: %v", names)
	}
	if _, ok := ProviderNamed("oke"); ok {
		t.Error("an unknown provider is known")
	}
}
