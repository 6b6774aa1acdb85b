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

// maxArchive bounds a packed chart, in bytes; Helm bounds the unpacked one.
const maxArchive = 32 << 20

// openPath reads a chart that is a directory or a packed chart.
func openPath(at string, want *model.FootprintChart, from string, released bool) (*Chart, error) {
	info, err := os.Stat(at)
	if err != nil {
		return nil, errors.New("there is nothing") // the caller names the place
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

// readDirectory reads the files of a chart as Helm does: what .helmignore lists is
// left out.
func readDirectory(dir string) ([]*archive.BufferedFile, error) {
	c, err := loader.LoadDir(dir)
	if c == nil || len(c.Raw) == 0 {
		if err == nil {
			err = errors.New("the directory is empty")
		}
		return nil, fmt.Errorf("read chart: %w", err)
	}
	// What else is wrong with it newChart finds.
	files := make([]*archive.BufferedFile, len(c.Raw))
	for i, f := range c.Raw {
		files[i] = &archive.BufferedFile{Name: f.Name, Data: f.Data}
	}
	if c.Metadata == nil { // .helmignore keeps what Chart.yaml is made of out of the chart
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
		return nil, fmt.Errorf("read chart: it is larger than %d MiB", maxArchive>>20)
	}
	files, err := archive.LoadArchiveFiles(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("unpack chart: %w", err)
	}
	return files, nil
}
