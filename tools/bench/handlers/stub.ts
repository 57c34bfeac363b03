/** A Data API that responds at once: one row of the project that it is asked for. */
export default {
  fetch({ url }: Request): Response {
    const [, project_id] = url.match(/project_id=eq\.([^&]+)/) ?? [];
    return Response.json([{ project_id }]);
  },
};
