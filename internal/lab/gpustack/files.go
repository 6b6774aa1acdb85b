package gpustack

import (
	"archive/zip"
	_ "embed" // the files
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"
)

//go:embed content.zip
var packed string

var content = sync.OnceValues(func() (fs.FS, error) {
	return zip.NewReader(strings.NewReader(packed), int64(len(packed)))
})

const (
	assetsDir    = "assets"
	manifestsDir = "manifests"
	chartDir     = "deployments/gpu-operator"
)

// Installed returns the files of the operator's image below /opt/gpu-operator: content by relative
// path.
func Installed() (map[string]string, error) {
	out := map[string]string{}
	for from, to := range map[string]string{assetsDir: ".", manifestsDir: manifestsDir} {
		files, err := below(from)
		if err != nil {
			return nil, err
		}
		for name, text := range files {
			out[path.Join(to, name)] = text
		}
	}
	return out, nil
}

// below returns the contents of the files in a directory by relative path.
func below(dir string) (map[string]string, error) {
	files, err := content()
	if err != nil {
		return nil, fmt.Errorf("open files of the GPU Operator: %w", err)
	}
	out := map[string]string{}
	err = fs.WalkDir(files, dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(files, name)
		out[strings.TrimPrefix(name, dir+"/")] = string(text)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read files of the GPU Operator: %w", err)
	}
	return out, nil
}
