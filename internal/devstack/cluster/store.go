package cluster

import (
	"net"
	"net/http"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

const bucket = "originals"

// store serves a bucket with S3's API from this process's memory.
func (c *Cluster) store() error {
	backend := s3mem.New()
	if err := backend.CreateBucket(bucket); err != nil {
		return err
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	c.s3URL = "s3://" + bucket + "?region=us-east-1&use_path_style=true&endpoint=http://" + l.Addr().String()
	c.s3 = &http.Server{Handler: gofakes3.New(backend).Server(), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = c.s3.Serve(l) }() // it ends with Close
	return nil
}
