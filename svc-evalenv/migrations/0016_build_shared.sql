-- The images that the shared catalogue may have of a paper (build/build.fn.sql).
CREATE INDEX build_shared ON build (arxiv_id, id) WHERE shares_asset AND image IS NOT NULL;
