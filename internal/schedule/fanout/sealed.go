package fanout

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/probe/guard"
	"github.com/firstlight/firstlight/internal/schedule"
)

// sealedFormat is the version of the format.
const sealedFormat = 1

// Keys of a published report: plain or compressed.
const (
	plainKey  = "report.json"
	zippedKey = "report.json.gz"
)

// limits of a published report, in bytes.
type limits struct {
	plain        int // maximum without compression
	maxConfigMap int // maximum in a ConfigMap
	maxUnzipped  int // maximum after decompression
}

var defaultLimits = limits{plain: 128 << 10, maxConfigMap: maxConfigMapBytes, maxUnzipped: 16 << 20}

// sealed is a published report.
type sealed struct {
	Format int `json:"format"`
	// Run id and UID of its Job.
	Run string `json:"run"`
	Job string `json:"job"`
	// Shard index and number of Shards.
	Shard  int `json:"shard"`
	Shards int `json:"shards"`
	// Tool is the shard's firstlight version.
	Tool   string          `json:"tool"`
	Report schedule.Report `json:"report"`
}

// seal writes a report to a ConfigMap. A report that is too large after compression loses
// findings, never a recipe or a verdict.
func (l limits) seal(s sealed, into *corev1.ConfigMap) error {
	for _, findings := range []int{-1, 12, 1} {
		data, err := json.Marshal(shortened(s, findings))
		if err != nil {
			return fmt.Errorf("encode the report: %w", err)
		}
		sum := sha256.Sum256(data)
		if into.Annotations == nil {
			into.Annotations = map[string]string{}
		}
		into.Annotations[annotationDigest] = "sha256:" + hex.EncodeToString(sum[:])
		into.Data, into.BinaryData = nil, nil
		if len(data) <= l.plain {
			into.Data = map[string]string{plainKey: string(data)}
			return nil
		}
		zipped, err := compress(data)
		if err != nil {
			return fmt.Errorf("compress the report: %w", err)
		}
		if len(zipped) <= l.maxConfigMap && len(data) <= l.maxUnzipped {
			into.BinaryData = map[string][]byte{zippedKey: zipped}
			return nil
		}
	}
	return fmt.Errorf("the report without findings exceeds the %d KiB of a ConfigMap: test fewer recipes per shard", l.maxConfigMap>>10)
}

// shortened limits the findings of each recipe; -1 keeps all.
func shortened(s sealed, findings int) sealed {
	if findings < 0 {
		return s
	}
	left := 0
	rows := append([]schedule.Result{}, s.Report.Recipes...)
	for i := range rows {
		if n := len(rows[i].Findings); n > findings {
			left += n - findings
			rows[i].Findings = rows[i].Findings[:findings]
		}
	}
	s.Report.Recipes = rows
	s.Report.Notes = append(append([]string{}, s.Report.Notes...),
		fmt.Sprintf("%d findings did not fit into the report of shard %d: test those recipes separately", left, s.Shard))
	return s
}

// unseal reads a published report and checks its digest.
func (l limits) unseal(from *corev1.ConfigMap) (s sealed, err error) {
	data, err := l.contentOf(from)
	if err != nil {
		return s, err
	}
	sum := sha256.Sum256(data)
	if got, want := "sha256:"+hex.EncodeToString(sum[:]), from.Annotations[annotationDigest]; got != want {
		return s, fmt.Errorf("its digest is %s, want %q: the report was modified", got, want)
	}
	if err := guard.JSON(data, &s); err != nil {
		return s, fmt.Errorf("cannot decode the report: %w", err)
	}
	if s.Format != sealedFormat {
		return s, fmt.Errorf("unsupported format %d, want %d: use the same firstlight version here and in the image", s.Format, sealedFormat)
	}
	return s, nil
}

func (l limits) contentOf(from *corev1.ConfigMap) ([]byte, error) {
	plain, isPlain := from.Data[plainKey]
	zipped, isZipped := from.BinaryData[zippedKey]
	if len(from.Data)+len(from.BinaryData) != 1 || isPlain == isZipped {
		return nil, errors.New("must contain exactly one report")
	}
	if isPlain {
		return []byte(plain), nil
	}
	r, err := gzip.NewReader(bytes.NewReader(zipped))
	if err != nil {
		return nil, fmt.Errorf("uncompress it: %w", err)
	}
	data, err := io.ReadAll(io.LimitReader(r, int64(l.maxUnzipped)+1))
	if err != nil {
		return nil, fmt.Errorf("uncompress it: %w", err)
	}
	if len(data) > l.maxUnzipped {
		return nil, fmt.Errorf("it decompresses to more than %d MiB", l.maxUnzipped>>20)
	}
	return data, nil
}

func compress(data []byte) ([]byte, error) {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
