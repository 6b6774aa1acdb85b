package prom

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// Receiver is one receiver of Alertmanager: its name and the sorted kinds of its integrations
// ("webhook", "pagerduty"), one entry per integration. A receiver without integrations sends
// no notification.
type Receiver struct {
	Name         string   `json:"name"`
	Integrations []string `json:"integrations"`
}

// ParseReceivers parses the response of /api/v2/status. It does not return the configuration
// itself, which can contain secrets.
func ParseReceivers(raw []byte) ([]Receiver, error) {
	return guard.Parse("status", func() ([]Receiver, error) { return parseReceivers(raw) })
}

func parseReceivers(raw []byte) ([]Receiver, error) {
	var config struct {
		Receivers []map[string]any `yaml:"receivers"`
	}
	if err := parseStatus(raw, &config); err != nil {
		return nil, err
	}
	if len(config.Receivers) == 0 {
		return nil, errors.New("read Alertmanager configuration: no receivers")
	}
	out := make([]Receiver, 0, len(config.Receivers))
	for _, r := range config.Receivers {
		out = append(out, receiverOf(r))
	}
	return out, nil
}

func receiverOf(fields map[string]any) Receiver {
	var r Receiver
	for key, value := range fields {
		if key == "name" {
			r.Name, _ = value.(string)
			continue
		}
		kind, isList := strings.CutSuffix(key, "_configs")
		list, ok := value.([]any)
		if isList && ok {
			r.Integrations = append(r.Integrations, slices.Repeat([]string{kind}, len(list))...)
		}
	}
	slices.Sort(r.Integrations)
	return r
}

// Receivers lists the receivers of the running configuration.
func (a Alertmanager) Receivers(ctx context.Context) ([]Receiver, error) {
	raw, err := a.get(ctx, "/api/v2/status", nil)
	if err != nil {
		return nil, err
	}
	receivers, err := ParseReceivers(raw)
	if err != nil {
		return nil, fmt.Errorf("list receivers of %s: %w", a.name, err)
	}
	return receivers, nil
}
