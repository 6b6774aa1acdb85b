package lab

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/atomicfile"
	"github.com/firstlight/firstlight/internal/lab/component"
)

// SetRules makes Prometheus evaluate the rules of these files, by their names ("team-one.yaml"),
// instead of those of the last call. It fails if Prometheus does not answer or refuses them; the next
// call repeats the reload.
func (l *Lab) SetRules(ctx context.Context, files map[string]string) error {
	l.mu.Lock()
	conf := l.conf
	l.mu.Unlock()
	if err := l.takeTurn(ctx, l.changing); err != nil { // a fault may be restarting Prometheus
		return fmt.Errorf("change Prometheus' rules: %w", err)
	}
	defer func() { <-l.changing }()
	changed, err := replaceFiles(conf.RulesDir(), files)
	if err != nil {
		return fmt.Errorf("change Prometheus' rules: %w", err)
	}
	if !changed && !l.rulesUnread {
		return nil
	}
	l.rulesUnread = true
	if err := reload(ctx, conf.Prometheus().Probe); err != nil {
		return err
	}
	l.rulesUnread = false
	return nil
}

// replaceFiles makes a directory have exactly these files and reports whether it changed.
func replaceFiles(dir string, files map[string]string) (changed bool, err error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return false, err
	}
	have, err := os.ReadDir(dir)
	if err != nil {
		return false, err
	}
	for _, e := range have {
		if _, keep := files[e.Name()]; !keep {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				return changed, err
			}
			changed = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(dir, name)
		was, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return changed, err
		}
		if err == nil && string(was) == files[name] {
			continue
		}
		if err := atomicfile.Write(path, []byte(files[name]), 0o600); err != nil {
			return changed, err
		}
		changed = true
	}
	return changed, nil
}

// reload makes Prometheus read its configuration and rules again.
func reload(ctx context.Context, p component.Probe) error {
	tlsConfig, err := clientTLS(p.CA, p.Cert, p.Key)
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: tlsConfig, DisableKeepAlives: true}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(p.URL, "/-/ready")+"/-/reload", nil)
	if err != nil {
		return fmt.Errorf("reload Prometheus: %w", err)
	}
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("reload Prometheus: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("reload Prometheus: %s", resp.Status)
	}
	return nil
}
