package gpustack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/loader/archive"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	release "helm.sh/helm/v4/pkg/release/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// Namespace and Release of the chart's installation.
const (
	Namespace = "gpu-operator"
	Release   = "gpu-operator"
)

// Version is the release that the module precedes (its versions.mk): the chart in the module has a
// placeholder, which the release process replaces.
const Version = "v25.3.2"

// Package writes the chart as its release process does, helm package with a version, to a directory and
// returns the archive's path.
func Package(dir string) (string, error) {
	chart, err := load()
	if err != nil {
		return "", err
	}
	chart.Metadata.Version, chart.Metadata.AppVersion = Version, Version
	path, err := chartutil.Save(chart, dir)
	if err != nil {
		return "", fmt.Errorf("package the GPU Operator's chart: %w", err)
	}
	return path, nil
}

// kubeVersion is the Kubernetes version that the chart is rendered for.
const kubeVersion = "v1.36.3"

// Rendered are the chart's objects. Helm installs Definitions first. Hooks are left out: they
// upgrade and delete definitions.
type Rendered struct {
	Definitions, Objects []*unstructured.Unstructured
}

// Render renders the chart like helm install, with values on top of its defaults.
func Render(ctx context.Context, values map[string]any) (*Rendered, error) {
	chart, err := load()
	if err != nil {
		return nil, err
	}
	kube, err := common.ParseKubeVersion(kubeVersion)
	if err != nil {
		return nil, fmt.Errorf("render the GPU Operator's chart: %w", err)
	}
	install := action.NewInstall(action.NewConfiguration(action.ConfigurationSetLogger(slog.DiscardHandler)))
	install.DryRunStrategy, install.ReleaseName, install.Namespace = action.DryRunClient, Release, Namespace
	install.SkipCRDs, install.KubeVersion = true, kube
	out, err := install.RunWithContext(ctx, chart, values)
	if err != nil {
		return nil, fmt.Errorf("render the GPU Operator's chart: %w", err)
	}
	rel, ok := out.(*release.Release)
	if !ok {
		return nil, fmt.Errorf("render the GPU Operator's chart: unexpected Helm result %T", out)
	}
	r := &Rendered{}
	for _, crd := range chart.CRDObjects() {
		objs, err := decode(crd.File.Data)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", crd.Filename, err)
		}
		r.Definitions = append(r.Definitions, objs...)
	}
	if r.Objects, err = decode([]byte(rel.Manifest)); err != nil {
		return nil, fmt.Errorf("read the GPU Operator's rendered chart: %w", err)
	}
	for _, o := range r.Objects {
		if o.GetNamespace() == "" && !clusterScoped[o.GetKind()] {
			o.SetNamespace(Namespace)
		}
	}
	return r, nil
}

// clusterScoped are the kinds of the chart that have no namespace.
var clusterScoped = map[string]bool{"ClusterPolicy": true, "ClusterRole": true, "ClusterRoleBinding": true, "NodeFeatureRule": true}

func load() (*chartv2.Chart, error) {
	files, err := below(chartDir)
	if err != nil {
		return nil, err
	}
	var buffered []*archive.BufferedFile
	for name, text := range files {
		buffered = append(buffered, &archive.BufferedFile{Name: name, Data: []byte(text)})
	}
	chart, err := loader.LoadFiles(buffered)
	if err != nil {
		return nil, fmt.Errorf("load the GPU Operator's chart: %w", err)
	}
	return chart, nil
}

// decode reads the objects of a YAML stream.
func decode(stream []byte) ([]*unstructured.Unstructured, error) {
	var all []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(stream), len(stream)+1)
	for {
		o := &unstructured.Unstructured{}
		err := decoder.Decode(&o.Object)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		if len(o.Object) > 0 {
			all = append(all, o)
		}
	}
}
