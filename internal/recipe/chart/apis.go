package chart

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/firstlight/firstlight/internal/yamlstrict"
)

// servedAPIs returns the API versions that templates can test for: those of other components
// and those of the CRDs in the chart's crds directory, which Helm installs first. A kind also
// adds its group and version.
func servedAPIs(c *chartv2.Chart, others []string) common.VersionSet {
	set := map[string]bool{}
	add := func(api string) {
		set[api] = true
		if i := strings.LastIndexByte(api, '/'); i > 0 && strings.Count(api, "/") == 2 {
			set[api[:i]] = true
		}
	}
	for _, api := range others {
		add(api)
	}
	for _, crd := range c.CRDObjects() {
		if crd.File != nil {
			for _, api := range definedKinds(crd.File.Data) {
				add(api)
			}
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// definedKinds returns the kinds that CustomResourceDefinitions define. It ignores unreadable
// documents.
func definedKinds(data []byte) []string {
	if yamlstrict.Bounded(data) != nil {
		return nil
	}
	var out []string
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), len(data)+1)
	for {
		var crd apiextensions.CustomResourceDefinition
		err := decoder.Decode(&crd)
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			return out
		}
		for _, v := range crd.Spec.Versions {
			if v.Served && crd.Spec.Group != "" {
				out = append(out, crd.Spec.Group+"/"+v.Name+"/"+crd.Spec.Names.Kind)
			}
		}
	}
}
