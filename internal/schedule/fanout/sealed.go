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

	"github.com/firstlight/firstlight/internal/schedule"
)

// sealedFormat is the version of what a published report looks like.
const sealedFormat = 1

// Keys of a published report: as it is, or compressed.
const (
	plainKey  = "report.json"
	zippedKey = "report.json.gz"
)

// room bounds a published report, in bytes.
type room struct {
	plain    int // above this it is compressed
	inMap    int // what a ConfigMap holds
	unzipped int // one that unpacks to more is no report
}

var fullRoom = room{plain: 128 << 10, inMap: mostInMap, unzipped: 16 << 20}

// sealed is what a shard publishes.
type sealed struct {
	Format int `json:"format"`
	// Run and Job are the run's id and its Job's UID.
	Run string `json:"run"`
	Job string `json:"job"`
	// Shard of Shards it is.
	Shard  int `json:"shard"`
	Shards int `json:"shards"`
	// Tool is the version of firstlight that made it.
	Tool   string          `json:"tool"`
	Report schedule.Report `json:"report"`
}

// seal puts a report into a ConfigMap. One that is too large even when compressed
// goes without most of its findings; never without a recipe or a verdict.
func (space room) seal(s sealed, into *corev1.ConfigMap) error {
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
		if len(data) <= space.plain {
			into.Data = map[string]string{plainKey: string(data)}
			return nil
		}
		zipped, err := compress(data)
		if err != nil {
			return fmt.Errorf("compress the report: %w", err)
		}
		if len(zipped) <= space.inMap && len(data) <= space.unzipped {
			into.BinaryData = map[string][]byte{zippedKey: zipped}
			return nil
		}
	}
	return fmt.Errorf("the report is larger than a ConfigMap, %d KiB, even without its findings: test fewer recipes in a shard", space.inMap>>10)
}

// shortened is the report with at most so many findings a recipe; -1: all.
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
		fmt.Sprintf("%d findings did not fit into the report of shard %d: test those recipes by themselves", left, s.Shard))
	return s
}

// unseal reads a published report, which must be whole and as it was published.
func (space room) unseal(from *corev1.ConfigMap) (s sealed, err error) {
	data, err := space.contentOf(from)
	if err != nil {
		return s, err
	}
	sum := sha256.Sum256(data)
	if got, want := "sha256:"+hex.EncodeToString(sum[:]), from.Annotations[annotationDigest]; got != want {
		return s, fmt.Errorf("its digest is %s, and %q was published: somebody changed it", got, want)
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("it is no report: %w", err)
	}
	if s.Format != sealedFormat {
		return s, fmt.Errorf("it has format %d, and this firstlight reads %d: use the firstlight of the image, or an image with this one", s.Format, sealedFormat)
	}
	return s, nil
}

func (space room) contentOf(from *corev1.ConfigMap) ([]byte, error) {
	plain, isPlain := from.Data[plainKey]
	zipped, isZipped := from.BinaryData[zippedKey]
	if len(from.Data)+len(from.BinaryData) != 1 || isPlain == isZipped {
		return nil, errors.New("it does not hold one report")
	}
	if isPlain {
		return []byte(plain), nil
	}
	r, err := gzip.NewReader(bytes.NewReader(zipped))
	if err != nil {
		return nil, fmt.Errorf("uncompress it: %w", err)
	}
	data, err := io.ReadAll(io.LimitReader(r, int64(space.unzipped)+1))
	if err != nil {
		return nil, fmt.Errorf("uncompress it: %w", err)
	}
	if len(data) > space.unzipped {
		return nil, fmt.Errorf("it unpacks to more than %d MiB", space.unzipped>>20)
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
