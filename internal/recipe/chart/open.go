package chart

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"helm.sh/helm/v4/pkg/chart/loader/archive"
	"helm.sh/helm/v4/pkg/chart/v2/loader"

	"github.com/firstlight/firstlight/internal/recipe/model"
)

// maxArchive limits a packed chart, in bytes; Helm limits the unpacked one.
const maxArchive = 32 << 20

// openPath reads an unpacked or packed chart.
func openPath(at string, want *model.FootprintChart, from string, released bool) (*Chart, error) {
	info, err := os.Stat(at)
	if err != nil {
		return nil, errors.New("not found") // the caller adds the path
	}
	var files []*archive.BufferedFile
	if info.IsDir() {
		files, err = readDirectory(at)
	} else {
		files, err = readArchiveFile(at)
	}
	if err != nil {
		return nil, err
	}
	return newChart(files, want, from, released)
}

// readDirectory reads the files of a chart as Helm does, without those in .helmignore.
func readDirectory(dir string) ([]*archive.BufferedFile, error) {
	c, err := loader.LoadDir(dir)
	if c == nil || len(c.Raw) == 0 {
		if err == nil {
			err = errors.New("the directory is empty")
		}
		return nil, fmt.Errorf("read chart: %w", err)
	}
	// newChart reports other problems.
	files := make([]*archive.BufferedFile, len(c.Raw))
	for i, f := range c.Raw {
		files[i] = &archive.BufferedFile{Name: f.Name, Data: f.Data}
	}
	if c.Metadata == nil { // .helmignore excludes the template of Chart.yaml
		if data, err := os.ReadFile(filepath.Join(dir, templateFile)); err == nil {
			files = append(files, &archive.BufferedFile{Name: templateFile, Data: data})
		}
	}
	return files, nil
}

func readArchiveFile(name string) ([]*archive.BufferedFile, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read chart: %w", err)
	}
	return readArchive(data)
}

func readArchive(data []byte) ([]*archive.BufferedFile, error) {
	if len(data) > maxArchive {
		return nil, fmt.Errorf("read chart: larger than %d MiB", maxArchive>>20)
	}
	files, err := archive.LoadArchiveFiles(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("unpack chart: %w", err)
	}
	return files, nil
}
