package cmdutil

import (
	"bytes"
	"fmt"
	"io"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"github.com/firstlight/firstlight/internal/atomicfile"
)

// WriteMetrics writes metrics in Prometheus text format to a file, which it replaces atomically, or
// without a path to out.
func WriteMetrics(out io.Writer, path string, families []*dto.MetricFamily) error {
	build := func(w io.Writer) error {
		enc := expfmt.NewEncoder(w, expfmt.NewFormat(expfmt.TypeTextPlain))
		for _, family := range families {
			if err := enc.Encode(family); err != nil {
				return err
			}
		}
		return nil
	}
	if path == "" {
		return WriteWhole(out, build)
	}
	var b bytes.Buffer
	if err := build(&b); err != nil {
		return Unobserved(fmt.Errorf("build metrics: %w", err))
	}
	return Unobserved(atomicfile.Write(path, b.Bytes(), 0o644))
}
