package component

import (
	"net"
	"strconv"
)

func (c Config) hostPort(port int) string { return net.JoinHostPort(c.Address, strconv.Itoa(port)) }

func (c Config) url(port int) string { return "https://" + c.hostPort(port) }

// APIServerURL is the URL of the API server.
func (c Config) APIServerURL() string { return c.url(c.Ports.APIServer) }

// PrometheusURL is the URL of Prometheus.
func (c Config) PrometheusURL() string { return c.url(c.Ports.Prometheus) }

// AlertmanagerURL is the URL of Alertmanager.
func (c Config) AlertmanagerURL() string { return c.url(c.Ports.Alertmanager) }

// SharedPrometheusURL alternates between Prometheus and its replica.
func (c Config) SharedPrometheusURL() string { return c.url(c.Ports.PrometheusShared) }
