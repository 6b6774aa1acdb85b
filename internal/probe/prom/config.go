package prom

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/common/model"
	"go.yaml.in/yaml/v3"

	"github.com/firstlight/firstlight/internal/probe/guard"
	"github.com/firstlight/firstlight/internal/yamlstrict"
)

// Config is the scrape configuration of Prometheus.
type Config struct {
	// ScrapeInterval is the default of the jobs.
	ScrapeInterval time.Duration
	// External are the labels that are added to the alerts which lack them.
	External map[string]string
	Jobs     []Job
}

// Job is one scrape job.
type Job struct {
	Name           string
	ScrapeInterval time.Duration
	HonorLabels    bool
	// Keeps are the source labels of the relabel rules with the action keep, such as
	// __meta_kubernetes_pod_annotation_prometheus_io_scrape.
	Keeps []string
}

// Job returns the job with the given name.
func (c Config) Job(name string) (Job, bool) {
	for _, j := range c.Jobs {
		if j.Name == name {
			return j, true
		}
	}
	return Job{}, false
}

// defaultScrape is the scrape interval of Prometheus without configuration.
const defaultScrape = model.Duration(time.Minute)

// ParseConfig parses the response of /api/v1/status/config. It does not return the
// configuration itself, which can contain secrets.
func ParseConfig(raw []byte) (Config, error) {
	return guard.Parse("Prometheus configuration", func() (Config, error) { return parseConfig(raw) })
}

func parseConfig(raw []byte) (Config, error) {
	data, err := open(raw)
	if err != nil {
		return Config{}, err
	}
	var body struct {
		YAML string `json:"yaml"`
	}
	if err := json.Unmarshal(data, &body); err != nil {
		return Config{}, fmt.Errorf("read configuration: %w", err)
	}
	if body.YAML == "" {
		return Config{}, errors.New("read configuration: empty response")
	}
	var file struct {
		Global struct {
			ScrapeInterval string            `yaml:"scrape_interval"`
			External       map[string]string `yaml:"external_labels"`
		} `yaml:"global"`
		Jobs []struct {
			Name           string `yaml:"job_name"`
			ScrapeInterval string `yaml:"scrape_interval"`
			HonorLabels    bool   `yaml:"honor_labels"`
			Relabel        []struct {
				Source []string `yaml:"source_labels"`
				Action string   `yaml:"action"`
			} `yaml:"relabel_configs"`
		} `yaml:"scrape_configs"`
	}
	if err := decodeYAML(body.YAML, &file); err != nil {
		return Config{}, fmt.Errorf("read Prometheus configuration: %w", err)
	}
	global, err := span(file.Global.ScrapeInterval, defaultScrape)
	if err != nil {
		return Config{}, err
	}
	c := Config{ScrapeInterval: time.Duration(global), External: file.Global.External}
	for _, j := range file.Jobs {
		every, err := span(j.ScrapeInterval, global)
		if err != nil {
			return Config{}, err
		}
		job := Job{Name: j.Name, ScrapeInterval: time.Duration(every), HonorLabels: j.HonorLabels}
		for _, r := range j.Relabel {
			if r.Action == "keep" {
				job.Keeps = append(job.Keeps, r.Source...)
			}
		}
		c.Jobs = append(c.Jobs, job)
	}
	return c, nil
}

// decodeYAML decodes a configuration in the response of a server.
func decodeYAML(text string, into any) error {
	if err := yamlstrict.Unique([]byte(text)); err != nil {
		return err
	}
	return yaml.Unmarshal([]byte(text), into)
}

func span(text string, otherwise model.Duration) (model.Duration, error) {
	if text == "" {
		return otherwise, nil
	}
	d, err := model.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("read Prometheus configuration: %w", err)
	}
	return d, nil
}

// Config reads the running configuration.
func (p Prometheus) Config(ctx context.Context) (Config, error) {
	raw, err := p.get(ctx, "/api/v1/status/config", nil)
	if err != nil {
		return Config{}, err
	}
	c, err := ParseConfig(raw)
	if err != nil {
		return Config{}, fmt.Errorf("read the configuration of %s: %w", p.name, err)
	}
	return c, nil
}
