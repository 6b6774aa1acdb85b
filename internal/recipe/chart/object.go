package chart

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	release "helm.sh/helm/v4/pkg/release/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/firstlight/firstlight/internal/yamlstrict"
)

type object struct {
	// source is the template of the object, as reported by Helm.
	source string
	json   []byte
}

const sourceComment = "# Source: "

// releaseObjects returns the objects of a release: its manifest, and the hooks of an install or
// upgrade. Tests and hooks of deletion or rollback do not run during normal operation.
func releaseObjects(rel *release.Release) ([]object, error) {
	objects, err := split(rel.Manifest, "")
	if err != nil {
		return nil, err
	}
	for _, h := range rel.Hooks {
		if !slices.ContainsFunc(h.Events, func(e release.HookEvent) bool {
			return e == release.HookPreInstall || e == release.HookPostInstall || e == release.HookPreUpgrade || e == release.HookPostUpgrade
		}) {
			continue
		}
		hooks, err := split(h.Manifest, h.Path)
		if err != nil {
			return nil, err
		}
		objects = append(objects, hooks...)
	}
	return objects, nil
}

// split reads YAML documents. A comment names the template; source is the default.
func split(manifest, source string) ([]object, error) {
	var out []object
	reader := utilyaml.NewYAMLReader(bufio.NewReader(strings.NewReader(manifest)))
	for {
		doc, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("split YAML documents: %w", err)
		}
		from := source
		for line := range bytes.Lines(doc) {
			if name, ok := strings.CutPrefix(strings.TrimSpace(string(line)), sourceComment); ok {
				from = name
				break
			}
		}
		if err := yamlstrict.Bounded(doc); err != nil {
			return nil, fmt.Errorf("%s: invalid rendered YAML: %w", from, err)
		}
		data, err := yaml.YAMLToJSON(doc)
		if err != nil {
			return nil, fmt.Errorf("%s: invalid rendered YAML: %w", from, err)
		}
		if string(data) != "null" {
			out = append(out, object{source: from, json: data})
		}
	}
}
