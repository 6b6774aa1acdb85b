package gpustack

import (
	_ "embed" // the images
	"fmt"
	"path"
	"strings"
	"sync"

	"github.com/google/go-containerregistry/pkg/name"
	"sigs.k8s.io/yaml"
)

//go:embed deviceplugins.yaml
var pluginImagesFile []byte

// pluginImage is the image of a device plugin.
type pluginImage struct {
	// Image is a pattern of the end of the repository's path.
	Image string `json:"image"`
	// GPU: it offers nvidia.com/gpu.
	GPU    bool   `json:"gpu,omitempty"`
	Source string `json:"source"`
}

var pluginImages = sync.OnceValues(func() ([]pluginImage, error) {
	var out []pluginImage
	if err := yaml.UnmarshalStrict(pluginImagesFile, &out); err != nil {
		return nil, fmt.Errorf("read the images of device plugins: %w", err)
	}
	return out, nil
})

// matches reports whether the repository of image ends with the pattern.
func (p pluginImage) matches(image string) bool {
	ref, err := name.ParseReference(image, name.WeakValidation)
	if err != nil {
		return false
	}
	parts := strings.Split(ref.Context().RepositoryStr(), "/")
	wanted := strings.Count(p.Image, "/") + 1
	if len(parts) < wanted {
		return false
	}
	ok, err := path.Match(p.Image, strings.Join(parts[len(parts)-wanted:], "/"))
	return ok && err == nil
}

// gpuPlugin reports whether an image offers nvidia.com/gpu; known is false for an image that is not in
// the list. The longest pattern decides: rocm/k8s-device-plugin is not NVIDIA's.
func gpuPlugin(images []pluginImage, image string) (gpu, known bool) {
	longest := 0
	for _, p := range images {
		if p.matches(image) && len(p.Image) > longest {
			gpu, known, longest = p.GPU, true, len(p.Image)
		}
	}
	return gpu, known
}
