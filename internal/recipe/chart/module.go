package chart

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/module"

	"github.com/firstlight/firstlight/internal/recipe/model"
)

// Modules finds charts that are part of Go modules.
type Modules struct {
	// Cache is the directory of unpacked modules (go env GOMODCACHE).
	Cache string
	// Download runs go mod download -json for module@version and returns its output; nil
	// without a go command.
	Download func(ctx context.Context, module string) ([]byte, error)
}

// Kind implements Source.
func (m Modules) Kind() string { return "module" }

// Get implements Source. It downloads the module if it is not in the cache.
func (m Modules) Get(ctx context.Context, want *model.FootprintChart) (*Chart, error) {
	if want.Module == "" {
		return nil, errNotApplicable
	}
	version := cmp.Or(want.ModuleVersion, "v"+strings.TrimPrefix(want.Version, "v"))
	at := want.Module + "@" + version
	dir, err := m.find(ctx, want.Module, version)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	if !filepath.IsLocal(filepath.FromSlash(want.Path)) {
		return nil, fmt.Errorf("%s: invalid path %q: must be inside the module", at, want.Path)
	}
	from := at + "/" + want.Path
	c, err := openPath(filepath.Join(dir, filepath.FromSlash(want.Path)), want, "module "+from, false)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", from, err)
	}
	return c, nil
}

func (m Modules) find(ctx context.Context, path, version string) (string, error) {
	if m.Cache != "" {
		escapedPath, err := module.EscapePath(path)
		if err != nil {
			return "", err
		}
		escapedVersion, err := module.EscapeVersion(version)
		if err != nil {
			return "", err
		}
		dir := filepath.Join(m.Cache, filepath.FromSlash(escapedPath)+"@"+escapedVersion)
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return dir, nil
		}
	}
	if m.Download == nil {
		return "", errors.New("the module is not in the module cache, and there is no go command to download it")
	}
	printed, err := m.Download(ctx, path+"@"+version)
	var answer struct{ Dir, Error string }
	if unreadable := json.Unmarshal(printed, &answer); unreadable != nil && err == nil {
		err = fmt.Errorf("parse output of go mod download: %w", unreadable)
	}
	switch {
	case answer.Error != "":
		return "", errors.New(answer.Error)
	case err != nil:
		return "", fmt.Errorf("go mod download: %w", err)
	case answer.Dir == "":
		return "", errors.New("go mod download printed no directory")
	}
	return answer.Dir, nil
}
