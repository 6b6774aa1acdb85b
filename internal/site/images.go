package site

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
)

// Images says where the images of a run are pulled from.
type Images struct {
	// Mirror is a registry, with a path if needed, that has every image below the name of its own
	// registry: mirror.example.com/docker.io/vllm/vllm-openai:v0.13.0.
	Mirror string `yaml:"mirror,omitempty" json:"mirror,omitempty"`
	// Registries maps a registry, or a registry and the beginning of a path, to what replaces it. The
	// longest key decides, and an image that a key matches is not taken from Mirror.
	Registries map[string]string `yaml:"registries,omitempty" json:"registries,omitempty"`
}

// dockerHub is the registry of references without one; the library calls it indexOfHub.
const (
	dockerHub  = "docker.io"
	indexOfHub = "index.docker.io"
)

// resolve returns a reference in the registry that the site has for it. A reference that cannot be
// parsed is returned as it is: the preflight and the kubelet name it.
func (i Images) resolve(image string) string {
	ref, err := name.ParseReference(image)
	if err != nil {
		return image
	}
	full := registryOf(ref.Context()) + "/" + ref.Context().RepositoryStr()
	rest := suffixOf(image)
	for _, key := range longestFirst(i.Registries) {
		if path, ok := within(full, key); ok {
			return i.Registries[key] + path + rest
		}
	}
	if i.Mirror == "" {
		return image
	}
	if _, ok := within(full, i.Mirror); ok {
		return image
	}
	return i.Mirror + "/" + full + rest
}

func registryOf(repository name.Repository) string {
	if registry := repository.RegistryStr(); registry != indexOfHub {
		return registry
	}
	return dockerHub
}

// suffixOf is the tag and the digest of a reference.
func suffixOf(image string) string {
	if i := strings.IndexByte(image, '@'); i >= 0 {
		return suffixOf(image[:i]) + image[i:]
	}
	if i := strings.LastIndexByte(image, ':'); i > strings.LastIndexByte(image, '/') {
		return image[i:]
	}
	return ""
}

// within reports whether a repository is the prefix or below it, and the path from there.
func within(repository, prefix string) (path string, ok bool) {
	path, ok = strings.CutPrefix(repository, prefix)
	return path, ok && (path == "" || strings.HasPrefix(path, "/"))
}

func longestFirst(m map[string]string) []string {
	keys := slices.Collect(maps.Keys(m))
	slices.SortFunc(keys, func(a, b string) int { return len(b) - len(a) })
	return keys
}

// useMirrors replaces the registries of every image of the site.
func (s *Site) useMirrors() {
	for _, image := range []*string{
		&s.Telemetry.LoadImage, &s.Workloads.Collective.Image, &s.Workloads.Training.Image, &s.Workloads.Inference.Image, &s.Workloads.Inference.LoadImage, &s.Autoscale.WorkerImage,
	} {
		*image = s.Images.resolve(*image)
	}
	for _, p := range s.podPatches() {
		s.Images.patch(p.patch, false)
	}
}

// patch replaces the images of the containers that a pod's patch adds.
func (i Images) patch(value any, container bool) {
	switch v := value.(type) {
	case map[string]any:
		for key, member := range v {
			if image, ok := member.(string); ok && container && key == "image" {
				v[key] = i.resolve(image)
				continue
			}
			i.patch(member, key == "containers" || key == "initContainers")
		}
	case []any:
		for _, item := range v {
			i.patch(item, container)
		}
	}
}

func (v *validator) images(i *Images) {
	if i.Mirror != "" {
		v.registry("images.mirror", "images.mirror", i.Mirror)
	}
	for _, key := range slices.Sorted(maps.Keys(i.Registries)) {
		path := "images.registries"
		v.registry(path, path+" "+key, key)
		v.registry(path, fmt.Sprintf("%s %s", path, key), i.Registries[key])
		for other := range i.Registries {
			if _, chained := within(i.Registries[key], other); chained {
				v.add(path, "%q replaces %q, which %q replaces again: name the last one", i.Registries[key], key, other)
			}
		}
	}
}

// registry requires a registry with an optional path: host[:port][/path].
func (v *validator) registry(path, what, value string) {
	host, _, _ := strings.Cut(value, "/")
	repository, err := name.NewRepository(value+"/image", name.StrictValidation)
	switch {
	case strings.Contains(value, "://"):
		v.add(path, "invalid registry %q of %s: must have no scheme, such as mirror.example.com/hub", value, what)
	case strings.HasSuffix(value, "/"), err != nil, !strings.ContainsAny(host, ".:") && host != "localhost", repository.RegistryStr() != host && host != dockerHub:
		v.add(path, "invalid registry %q of %s: must be host[:port][/path], such as mirror.example.com/hub", value, what)
	}
}
