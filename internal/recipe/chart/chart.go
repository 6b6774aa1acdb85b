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
	"github.com/firstlight/firstlight/internal/yamlstrict"
)

// Chart has the files of a chart.
type Chart struct {
	Name, Version string
	// From describes the origin, for display.
	From string
	// Digest is the SHA-256 of the original files in hexadecimal.
	Digest string
	// Notes describe differences from the published chart.
	Notes []string

	files []*archive.BufferedFile
}

const (
	chartFile    = "Chart.yaml"
	templateFile = "Chart.template.yaml"
)

// placeholder is the version of charts whose version is set on release.
const placeholder = "0.0.0"

// newChart verifies that the files are the wanted chart. In a source tree, fields of Chart.yaml
// that are set on release may be missing.
func newChart(files []*archive.BufferedFile, want *model.FootprintChart, from string, released bool) (*Chart, error) {
	c := &Chart{Name: want.Name, Version: want.Version, From: from, Digest: digest(files), files: slices.Clone(files)}
	c.metadataFromTemplate()
	for _, f := range c.files {
		if ext := path.Ext(f.Name); ext != ".yaml" && ext != ".yml" || strings.Contains(f.Name, "templates/") {
			continue // rendered templates are checked when they are read
		}
		if err := yamlstrict.Bounded(f.Data); err != nil {
			return nil, fmt.Errorf("load chart: %s: %w", f.Name, err)
		}
	}
	loaded, err := loader.LoadFiles(c.files)
	if err != nil {
		return nil, fmt.Errorf("load chart: %w", err)
	}
	m := loaded.Metadata
	if m.Name != want.Name {
		return nil, fmt.Errorf("found chart %s, want %s", m.Name, want.Name)
	}
	unversioned := sameVersion(m.Version, placeholder)
	if !unversioned && !sameVersion(m.Version, want.Version) {
		return nil, fmt.Errorf("found chart version %s, want %s", m.Version, want.Version)
	}
	if unversioned {
		c.Notes = append(c.Notes, fmt.Sprintf("Chart.yaml has the placeholder version %s: rendered as %s", m.Version, want.Version))
		m.Version = want.Version
	}
	if sameVersion(m.AppVersion, placeholder) || m.AppVersion == "" && !released {
		if !unversioned {
			c.Notes = append(c.Notes, "Chart.yaml has no appVersion before the release: rendered with "+want.Version)
		}
		m.AppVersion, unversioned = want.Version, true
	}
	if unversioned {
		return c, c.writeMetadata(m)
	}
	return c, nil
}

// metadataFromTemplate uses Chart.template.yaml if there is no Chart.yaml.
func (c *Chart) metadataFromTemplate() {
	at := func(name string) int {
		return slices.IndexFunc(c.files, func(f *archive.BufferedFile) bool { return f.Name == name })
	}
	i := at(templateFile)
	if i < 0 || at(chartFile) >= 0 {
		return
	}
	c.files = append(c.files, &archive.BufferedFile{Name: chartFile, Data: c.files[i].Data})
	c.Notes = append(c.Notes, "the chart has no Chart.yaml before the release: used "+templateFile+" instead")
}

// writeMetadata writes the version and appVersion that a release would.
func (c *Chart) writeMetadata(m *chartv2.Metadata) error {
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

// withDependency returns the chart with another one added in its charts directory.
func (c *Chart) withDependency(sub *Chart) *Chart {
	out := *c
	out.files, out.Notes = slices.Clone(c.files), slices.Clone(c.Notes)
	for _, f := range sub.files {
		out.files = append(out.files, &archive.BufferedFile{Name: path.Join("charts", sub.Name, f.Name), Data: f.Data})
	}
	out.Digest = joinDigests(c.Digest, sub.Name, sub.Digest)
	out.Notes = append(out.Notes, fmt.Sprintf("the dependency %s %s is not packaged with it: taken from %s", sub.Name, sub.Version, sub.From))
	for _, n := range sub.Notes {
		out.Notes = append(out.Notes, sub.Name+": "+n)
	}
	return &out
}

// load parses the files for each rendering, because Helm modifies the result.
func (c *Chart) load() (*chartv2.Chart, error) {
	loaded, err := loader.LoadFiles(c.files)
	if err != nil {
		return nil, fmt.Errorf("load chart %s: %w", c.Name, err)
	}
	return loaded, nil
}

// sameVersion ignores a leading v, which charts and modules use differently.
func sameVersion(a, b string) bool {
	return strings.TrimPrefix(a, "v") == strings.TrimPrefix(b, "v")
}
