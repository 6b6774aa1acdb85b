package chart

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/firstlight/firstlight/internal/recipe/model"
)

// Modules are Go modules that charts ship in.
type Modules struct {
	// Cache is the directory of unpacked modules (go env GOMODCACHE).
	Cache string
	// Download runs go mod download -json with one argument, module@version, and
	// returns what it prints; nil where there is no go command.
	Download func(ctx context.Context, module string) ([]byte, error)
}

// Kind is module.
func (m Modules) Kind() string { return "module" }

// Get reads the chart out of the module, which is fetched unless it is in the cache.
func (m Modules) Get(ctx context.Context, want *model.FootprintChart) (*Chart, error) {
	if want.Module == "" {
		return nil, errElsewhere
	}
	version := want.ModuleVersion
	if version == "" {
		version = "v" + strings.TrimPrefix(want.Version, "v")
	}
	at := want.Module + "@" + version
	dir, err := m.find(ctx, want.Module, version)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	if !filepath.IsLocal(filepath.FromSlash(want.Path)) {
		return nil, fmt.Errorf("%s: %q is no path in the module", at, want.Path)
	}
	from := at + "/" + want.Path
	c, err := openPath(filepath.Join(dir, filepath.FromSlash(want.Path)), want, "module "+from, false)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", from, err)
	}
	return c, nil
}

func (m Modules) find(ctx context.Context, module, version string) (string, error) {
	if m.Cache != "" {
		dir := filepath.Join(m.Cache, filepath.FromSlash(escape(module))+"@"+escape(version))
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return dir, nil
		}
	}
	if m.Download == nil {
		return "", errors.New("it is not in the module cache, and there is no go command to fetch it")
	}
	printed, err := m.Download(ctx, module+"@"+version)
	var answer struct{ Dir, Error string }
	if unreadable := json.Unmarshal(printed, &answer); unreadable != nil && err == nil {
		err = fmt.Errorf("read what go mod download printed: %w", unreadable)
	}
	switch {
	case answer.Error != "":
		return "", errors.New(answer.Error)
	case err != nil:
		return "", fmt.Errorf("go mod download: %w", err)
	case answer.Dir == "":
		return "", errors.New("go mod download names no directory")
	}
	return answer.Dir, nil
}

// escape writes a path as the module cache does: file systems may take a capital
// letter for the small one. https://go.dev/ref/mod#module-cache
func escape(path string) string {
	var b strings.Builder
	for _, r := range path {
		if unicode.IsUpper(r) {
			b.WriteByte('!')
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	return b.String()
}
