package simulation

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/config"
)

// conclude checks the complete history and the remaining deployments and writes the report.
func (p *runner) conclude(ctx context.Context, r *Report) error {
	reg, err := p.registry()
	if err != nil {
		return err
	}
	p.cancelPeople()
	history, err := p.look(ctx, r, reg)
	if err != nil {
		return err
	}
	for name, reservation := range p.remaining(ctx, reg) {
		r.Findings = append(r.Findings, newFinding(reservation, name+" still exists at the end"))
	}
	if err := p.count(ctx, r); err != nil {
		return err
	}
	p.mu.Lock()
	r.Findings = append(r.Findings, p.wrong...)
	p.mu.Unlock()
	if err := p.keep(ctx, history); err != nil {
		return err
	}
	r.Passed = len(r.Days) > 0 && len(r.Findings) == 0
	for _, d := range r.Days {
		r.Passed = r.Passed && len(d.Findings) == 0
	}
	raw, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return p.write("report.json", string(raw)+"\n")
}

// look audits the history of every reservation and returns it as lines of JSON.
func (p *runner) look(ctx context.Context, r *Report, reg *config.Registry) (string, error) {
	var lines bytes.Buffer
	for _, row := range reg.Reservations {
		all, err := p.store.History(ctx, row.Name, time.Time{})
		if err != nil {
			return "", err
		}
		n, findings := audit(row.Name, all)
		if n == 0 && (row.DaytimeIntent != "" || len(row.Nightly()) > 0) {
			findings = append(findings, newFinding(row.Name, "no lease was ever claimed"))
		}
		r.Leases += n
		r.Findings = append(r.Findings, findings...)
		for _, t := range all {
			raw, err := json.Marshal(map[string]any{"reservation": row.Name, "transition": t})
			if err != nil {
				return "", fmt.Errorf("write the history: %w", err)
			}
			lines.Write(append(raw, '\n'))
		}
	}
	return lines.String(), nil
}

// count counts hand-overs and cells.
func (p *runner) count(ctx context.Context, r *Report) error {
	hs, err := p.store.ListHandOvers(ctx, time.Time{})
	if err != nil {
		return err
	}
	r.HandOvers = len(hs)
	for _, h := range hs {
		for _, row := range h.Status.Rows {
			for _, c := range row.Cells {
				r.Cells[string(c.Outcome)]++
			}
		}
	}
	return nil
}

// remaining returns the existing deployments and their reservations.
func (p *runner) remaining(ctx context.Context, reg *config.Registry) map[string]string {
	out := map[string]string{}
	if reg == nil {
		return out
	}
	for _, row := range reg.Reservations {
		all, err := p.discover(ctx, row.Name)
		if err != nil {
			p.addFinding(newFinding(row.Name, fmt.Sprintf("cannot list deployments: %v", err)))
		}
		for _, d := range all {
			out[d.Name] = row.Name
		}
	}
	return out
}

// keep writes the history, the metrics and the results.
func (p *runner) keep(ctx context.Context, history string) error {
	if err := p.write("history.jsonl", history); err != nil {
		return err
	}
	c := p.leader(ctx)
	if c == nil {
		return errNoLeader
	}
	metrics, err := fetch(ctx, "http://"+c.address+"/metrics")
	if err != nil {
		return err
	}
	if err := p.write("metrics.prom", metrics); err != nil {
		return err
	}
	for name, format := range map[string]string{"grid.txt": "text", "grid.html": "html", "grid.json": "json"} {
		grid, err := p.firstlight(ctx, "reservation", "batch", "results", "--clock", p.clockPath(), "-o", format)
		if err != nil {
			return err
		}
		if err := p.write(name, string(grid)); err != nil {
			return err
		}
	}
	return nil
}

func fetch(ctx context.Context, url string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return "", fmt.Errorf("get %s: %w", url, err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", fmt.Errorf("get %s: %w", url, err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s", resp.Status)
	}
	if err != nil {
		return "", fmt.Errorf("get %s: %w", url, err)
	}
	return string(raw), nil
}
