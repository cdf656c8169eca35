// SPDX-License-Identifier: Apache-2.0

package s3

import (
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/hdfsio/remote"
	"github.com/gvw-project/gvw/hdfsio/web"
)

// noPayload is the SHA-256 of a request without a body.
const noPayload = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// Config describes a bucket and its server.
type Config struct {
	// Bucket is the name of the bucket. Required.
	Bucket string
	// Endpoint is the URL of the server, such as http://minio:9000; empty: AWS_ENDPOINT_URL_S3,
	// AWS_ENDPOINT_URL, or Amazon's.
	Endpoint string
	// Env returns a variable of the environment, "" if it is not set. Required.
	Env func(name string) string
}

// base returns the URL that begins those of the bucket's objects.
func (c Config) base(region string) (string, error) {
	text := cmp.Or(c.Endpoint, c.Env("AWS_ENDPOINT_URL_S3"), c.Env("AWS_ENDPOINT_URL"))
	switch {
	case text == "" && strings.Contains(c.Bucket, "."): // no certificate has such a host
		return "https://s3." + region + ".amazonaws.com/" + c.Bucket, nil
	case text == "":
		return "https://" + c.Bucket + ".s3." + region + ".amazonaws.com", nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || strings.Trim(u.Path, "/") != "" {
		return "", fmt.Errorf("s3.Config.Endpoint: got %q, want http://HOST:PORT or https://HOST", text)
	}
	return u.Scheme + "://" + u.Host + "/" + c.Bucket, nil
}

// Client reads the objects of one bucket.
type Client struct {
	remote.ReadOnly
	cfg         Config
	credentials *chain
	signer      *v4.Signer

	mu     sync.Mutex
	region string
	web    *web.Client // of region
}

var (
	_ remote.Backend   = (*Client)(nil)
	_ remote.Versioned = (*Client)(nil)
	_ remote.Adviser   = (*Client)(nil)
)

// New returns a client for a bucket. It makes no request.
func New(cfg Config) (*Client, error) {
	if cfg.Bucket == "" || strings.ContainsAny(cfg.Bucket, "@:?#%") {
		return nil, fmt.Errorf("s3.Config.Bucket: got %q: write s3://BUCKET/OBJECT", cfg.Bucket)
	}
	c := &Client{
		cfg: cfg, credentials: newChain(cfg.Env),
		signer: v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true }), // S3 escapes once
	}
	return c, c.setRegion(cmp.Or(cfg.Env("AWS_REGION"), cfg.Env("AWS_DEFAULT_REGION"), c.credentials.profile("region"), "us-east-1"))
}

// setRegion makes the client of a region.
func (c *Client) setRegion(region string) error {
	base, err := c.cfg.base(region)
	if err != nil {
		return err
	}
	w, err := web.New(web.Config{
		Base:  base,
		Sign:  func(req *http.Request) error { return c.sign(req, region) },
		Check: func(resp *http.Response) error { return c.check(resp, region) },
	})
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.region, c.web = region, w
	c.mu.Unlock()
	return nil
}

func (c *Client) client() *web.Client {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.web
}

func (c *Client) sign(req *http.Request, region string) error {
	keys, err := c.credentials.get()
	if err != nil || keys.id == "" {
		return err
	}
	req.Header.Set("X-Amz-Content-Sha256", noPayload)
	return c.signer.SignHTTP(context.Background(), aws.Credentials{AccessKeyID: keys.id, SecretAccessKey: keys.secret, SessionToken: keys.token}, req, noPayload, "s3", region, time.Now())
}

// check returns the error that a response describes, nil for one without a description.
func (c *Client) check(resp *http.Response, region string) error {
	if resp.StatusCode < 300 || resp.StatusCode == http.StatusPreconditionFailed || resp.StatusCode == http.StatusRequestedRangeNotSatisfiable {
		return nil
	}
	if here := resp.Header.Get("X-Amz-Bucket-Region"); here != "" && here != region {
		if err := c.setRegion(here); err != nil {
			return err
		}
		return &regionError{here}
	}
	if denied := resp.StatusCode == http.StatusForbidden || resp.StatusCode == http.StatusUnauthorized; denied && resp.Request.Header.Get("Authorization") == "" {
		if err := c.credentials.again(); err != nil {
			return err
		}
	}
	e := &Error{StatusError: web.StatusError{Code: resp.StatusCode, Status: resp.Status}}
	body, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err != nil || xml.Unmarshal(body, e) != nil || e.Name == "" {
		return nil // the status code has to suffice
	}
	return e
}

// regionError reports that a bucket is in another region, for which the next request is.
type regionError struct{ region string }

func (e *regionError) Error() string { return "the bucket is in the region " + e.region }

// Transient reports true.
func (e *regionError) Transient() bool { return true }

// Error is an error response of the server.
type Error struct {
	web.StatusError `xml:"-"`

	Name    string `xml:"Code"` // such as NoSuchKey
	Message string
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s (%s, %d)", strings.TrimSuffix(e.Message, "."), e.Name, e.Code)
}

// Transient reports whether a retry may succeed.
func (e *Error) Transient() bool {
	return e.StatusError.Transient() || e.Name == "RequestTimeout" || e.Name == "SlowDown"
}

// Close closes idle connections.
func (c *Client) Close() error { return c.client().Close() }

func (c *Client) String() string { return "s3" }

// Seeks reports true.
func (c *Client) Seeks() bool { return true }

// Advice returns the remedy for an error.
func (c *Client) Advice(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "check the names of the bucket and the object, and the server (AWS_ENDPOINT_URL)"
	case errors.Is(err, fs.ErrPermission):
		return "check the credentials (AWS_ACCESS_KEY_ID, AWS_PROFILE) and the policy of the bucket"
	case errors.Is(err, errors.ErrUnsupported):
		return "write it as a file on this machine, and copy it"
	}
	return ""
}

// escape returns the path of an object in a URL, escaped as the signature wants it.
func escape(path string) string {
	var b strings.Builder
	for _, c := range []byte(path) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("-_.~/", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// Stat describes an object, or the directory of the objects whose names begin so.
func (c *Client) Stat(name string) (hdfsio.Info, error) {
	dir := strings.Trim(name, "/")
	if dir != "" {
		info, err := c.client().Stat(escape(name))
		if !errors.Is(err, fs.ErrNotExist) {
			return info, err
		}
	}
	some, err := c.list(dir, 1)
	if err == nil && len(some) == 0 && dir != "" {
		err = fs.ErrNotExist
	}
	return hdfsio.Info{Name: path.Base(name), Mode: fs.ModeDir | 0o700}, err
}

// Open reads an object from offset on.
func (c *Client) Open(path string, offset int64) (io.ReadCloser, error) {
	return c.client().Open(escape(path), offset)
}

// OpenVersion is Open for the contents that info describes.
func (c *Client) OpenVersion(path string, offset int64, info hdfsio.Info) (io.ReadCloser, error) {
	return c.client().OpenVersion(escape(path), offset, info)
}

// ReadDir describes the objects and directories in a directory.
func (c *Client) ReadDir(path string) ([]hdfsio.Info, error) {
	dir := strings.Trim(path, "/")
	infos, err := c.list(dir, 0)
	if err == nil && len(infos) == 0 && dir != "" {
		err = fs.ErrNotExist
	}
	return infos, err
}

// page is a page of a listing.
type page struct {
	Contents []struct {
		Key, ETag    string
		Size         int64
		LastModified time.Time
	}
	CommonPrefixes        []struct{ Prefix string }
	NextContinuationToken string
}

// list describes what is in a directory, or its first entries if limit is not 0.
func (c *Client) list(dir string, limit int) (infos []hdfsio.Info, err error) {
	if dir != "" {
		dir += "/"
	}
	query := url.Values{"list-type": {"2"}, "prefix": {dir}, "delimiter": {"/"}}
	if limit > 0 {
		query.Set("max-keys", fmt.Sprint(limit+1)) // the directory itself may be an object
	}
	for {
		p, err := c.page("/?" + strings.ReplaceAll(query.Encode(), "+", "%20"))
		if err != nil {
			return nil, err
		}
		for _, sub := range p.CommonPrefixes {
			infos = append(infos, hdfsio.Info{Name: path.Base(sub.Prefix), Mode: fs.ModeDir | 0o700})
		}
		for _, o := range p.Contents {
			if o.Key != dir {
				infos = append(infos, hdfsio.Info{Name: path.Base(o.Key), Size: o.Size, Modified: o.LastModified.Truncate(time.Second), Tag: o.ETag})
			}
		}
		if p.NextContinuationToken == "" || limit > 0 {
			return infos, nil
		}
		query.Set("continuation-token", p.NextContinuationToken)
	}
}

func (c *Client) page(path string) (p page, err error) {
	resp, err := c.client().Get(path)
	if err != nil {
		return p, err
	}
	defer resp.Body.Close()
	if err := xml.NewDecoder(resp.Body).Decode(&p); err != nil {
		return p, fmt.Errorf("the server's listing: %w", err)
	}
	return p, nil
}
