package chart

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/loader/archive"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"sigs.k8s.io/yaml"

	"github.com/firstlight/firstlight/internal/recipe/model"
)

// Chart is the files of a chart.
type Chart struct {
	Name, Version string
	// From says where it was had, for people.
	From string
	// Digest is the SHA-256 of its files as they were had, in hexadecimal.
	Digest string
	// Notes say how it differs from the chart as it is published.
	Notes []string

	files []*archive.BufferedFile
}

const (
	chartFile    = "Chart.yaml"
	templateFile = "Chart.template.yaml"
)

// placeholder is the version of charts that get theirs when they are released.
const placeholder = "0.0.0"

// newChart checks that files are the chart that is wanted. Those of a source tree are
// not released yet: what releasing writes into Chart.yaml may be missing.
func newChart(files []*archive.BufferedFile, want *model.FootprintChart, from string, released bool) (*Chart, error) {
	c := &Chart{Name: want.Name, Version: want.Version, From: from, Digest: digest(files), files: slices.Clone(files)}
	c.metadataFromTemplate()
	loaded, err := loader.LoadFiles(c.files)
	if err != nil {
		return nil, fmt.Errorf("load chart: %w", err)
	}
	m := loaded.Metadata
	if m.Name != want.Name {
		return nil, fmt.Errorf("the chart there is %s, not %s", m.Name, want.Name)
	}
	unversioned := sameVersion(m.Version, placeholder)
	if !unversioned && !sameVersion(m.Version, want.Version) {
		return nil, fmt.Errorf("the chart there is version %s, not %s", m.Version, want.Version)
	}
	if unversioned {
		c.Notes = append(c.Notes, fmt.Sprintf("its Chart.yaml has version %s, which is replaced when it is released: rendered as %s", m.Version, want.Version))
		m.Version = want.Version
	}
	if sameVersion(m.AppVersion, placeholder) || m.AppVersion == "" && !released {
		if !unversioned {
			c.Notes = append(c.Notes, "its Chart.yaml has no appVersion before it is released: rendered with "+want.Version)
		}
		m.AppVersion, unversioned = want.Version, true
	}
	if unversioned {
		return c, c.stamp(m)
	}
	return c, nil
}

// metadataFromTemplate takes Chart.template.yaml where there is no Chart.yaml yet.
func (c *Chart) metadataFromTemplate() {
	at := func(name string) int {
		return slices.IndexFunc(c.files, func(f *archive.BufferedFile) bool { return f.Name == name })
	}
	i := at(templateFile)
	if i < 0 || at(chartFile) >= 0 {
		return
	}
	c.files = append(c.files, &archive.BufferedFile{Name: chartFile, Data: c.files[i].Data})
	c.Notes = append(c.Notes, "it has no Chart.yaml before it is released: "+templateFile+" is read in its place")
}

// stamp writes what releasing the chart writes.
func (c *Chart) stamp(m *chartv2.Metadata) error {
	data, err := yaml.Marshal(m)
	if err != nil {
		return fmt.Errorf("write the version of chart %s: %w", c.Name, err)
	}
	for i, f := range c.files {
		if f.Name == chartFile {
			c.files[i] = &archive.BufferedFile{Name: chartFile, Data: data}
		}
	}
	return nil
}

// with is the chart with another one in its directory charts.
func (c *Chart) with(sub *Chart) *Chart {
	out := *c
	out.files, out.Notes = slices.Clone(c.files), slices.Clone(c.Notes)
	for _, f := range sub.files {
		out.files = append(out.files, &archive.BufferedFile{Name: path.Join("charts", sub.Name, f.Name), Data: f.Data})
	}
	out.Digest = joinDigests(c.Digest, sub.Name, sub.Digest)
	out.Notes = append(out.Notes, fmt.Sprintf("its dependency %s %s is not in it: taken from %s", sub.Name, sub.Version, sub.From))
	for _, n := range sub.Notes {
		out.Notes = append(out.Notes, sub.Name+": "+n)
	}
	return &out
}

// load parses the files anew: Helm writes to what it renders.
func (c *Chart) load() (*chartv2.Chart, error) {
	loaded, err := loader.LoadFiles(c.files)
	if err != nil {
		return nil, fmt.Errorf("load chart %s: %w", c.Name, err)
	}
	return loaded, nil
}

// sameVersion says whether two texts are one version: charts and modules differ in
// whether a v stands in front.
func sameVersion(a, b string) bool {
	return strings.TrimPrefix(a, "v") == strings.TrimPrefix(b, "v")
}
