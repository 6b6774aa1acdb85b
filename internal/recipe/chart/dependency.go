package chart

import (
	"context"
	"fmt"
	"path"
	"strings"

	chartv2 "helm.sh/helm/v4/pkg/chart/v2"

	"github.com/firstlight/firstlight/internal/recipe/model"
)

// dependencyStub is a dependency that is not packaged with the chart.
type dependencyStub struct {
	// path in the chart: charts/NAME.
	path                      string
	name, version, repository string
}

func (m dependencyStub) String() string { return m.name + " " + m.version }

// stubKey is the annotation of a stub for a missing dependency. The stubs that remain after
// Helm applied conditions and tags are required.
const stubKey = "firstlight/missing"

// addStubs adds a stub for every declared dependency that is not packaged with the chart.
func addStubs(c *chartv2.Chart, at string) {
	have := map[string]bool{}
	for _, sub := range c.Dependencies() {
		have[sub.Name()] = true
		addStubs(sub, path.Join(at, "charts", sub.Name()))
	}
	for _, d := range c.Metadata.Dependencies {
		if d == nil || have[d.Name] {
			continue
		}
		have[d.Name] = true
		version := exact(d.Version)
		c.AddDependency(&chartv2.Chart{Metadata: &chartv2.Metadata{
			APIVersion: chartv2.APIVersionV2, Name: d.Name, Version: version,
			Annotations: map[string]string{stubKey: path.Join(at, "charts", d.Name), "version": d.Version, "repository": d.Repository},
		}})
		d.Version = version
	}
}

// exact returns a version for a stub; for a range, any version, which the dependency is changed
// to request.
func exact(version string) string {
	if strings.ContainsAny(version, " <>=~^*xX|,") || version == "" {
		return "1.0.0"
	}
	return version
}

func remainingStubs(c *chartv2.Chart, at string) []dependencyStub {
	var out []dependencyStub
	for _, sub := range c.Dependencies() {
		if stub, ok := sub.Metadata.Annotations[stubKey]; ok {
			name := path.Base(stub)
			out = append(out, dependencyStub{path: stub, name: name, version: sub.Metadata.Annotations["version"], repository: sub.Metadata.Annotations["repository"]})
			continue
		}
		out = append(out, remainingStubs(sub, path.Join(at, "charts", sub.Name()))...)
	}
	return out
}

// complete fetches a dependency of c and adds it. Only exact versions are accepted: a range can
// resolve to another version later.
func (s Sources) complete(ctx context.Context, c *Chart, m dependencyStub, of *model.FootprintChart) (*Chart, []Attempt, error) {
	if m.path != path.Join("charts", m.name) {
		return nil, nil, fmt.Errorf("chart %s depends on %s, which is not packaged with it", c.Name, m)
	}
	want := model.FootprintChart{Name: m.name, Version: m.version, Repository: m.repository}
	if exact(m.version) != m.version {
		want.Version = lockedVersion(c, m.name)
		if want.Version == "" {
			return nil, nil, fmt.Errorf("chart %s depends on the version range %s %s: package the chart with helm dependency build", c.Name, m.name, m.version)
		}
	}
	for _, d := range of.Dependencies {
		if d.Name == m.name {
			want.Module, want.ModuleVersion, want.Path = d.Module, d.ModuleVersion, d.Path
		}
	}
	sub, attempts := s.get(ctx, &want)
	for i := range attempts {
		attempts[i].Source = m.name + " from " + attempts[i].Source
	}
	if sub == nil {
		return nil, attempts, fmt.Errorf("chart %s depends on %s, which is not packaged with it and not available", c.Name, m)
	}
	return c.withDependency(sub), attempts, nil
}

// lockedVersion returns the version of a dependency in Chart.lock.
func lockedVersion(c *Chart, name string) string {
	loaded, err := c.load()
	if err != nil || loaded.Lock == nil {
		return ""
	}
	for _, d := range loaded.Lock.Dependencies {
		if d != nil && d.Name == name {
			return d.Version
		}
	}
	return ""
}
