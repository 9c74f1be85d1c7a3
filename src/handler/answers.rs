//! `tasks/*` where rmcp has read the request: through the checks of [`crate::protocol`], and into rmcp's types.

use rmcp::{
    ErrorData, RoleServer,
    model::{CustomRequest, CustomResult, ErrorCode},
    service::RequestContext,
};
use serde::{Serialize, de::DeserializeOwned};

use super::{Client, Principals};
use crate::{
    engine::Engine,
    protocol::{self, ProtocolError},
};

/// An error as rmcp has it.
pub(super) fn error_data(error: ProtocolError) -> ErrorData {
    ErrorData::new(
        ErrorCode(i32::try_from(error.code).unwrap_or(ErrorCode::INTERNAL_ERROR.0)),
        error.message,
        error.data,
    )
}

/// Answers the `tasks/*` request `method` with the JSON text of its result.
pub(super) async fn answer(
    engine: &Engine,
    principals: &Principals,
    context: &RequestContext<RoleServer>,
    method: &str,
    params: &impl Serialize,
) -> Result<Vec<u8>, ErrorData> {
    let client = Client::of(context, principals.of(&context.extensions));
    let params = serde_json::to_vec(params).map_err(|_| error_data(ProtocolError::internal()))?;
    let answer = protocol::answer(engine, &client.caller(), method, &params).await.map_err(error_data)?;
    Ok(answer.result())
}

/// The same, as one of rmcp's types.
pub(super) async fn answer_as<T: DeserializeOwned>(
    engine: &Engine,
    principals: &Principals,
    context: &RequestContext<RoleServer>,
    method: &str,
    params: &impl Serialize,
) -> Result<T, ErrorData> {
    let result = answer(engine, principals, context, method, params).await?;
    serde_json::from_slice(&result).map_err(|error| {
        tracing::error!(error = &error as &dyn std::error::Error, "an answer about a task does not read as one");
        error_data(ProtocolError::internal())
    })
}

/// Answers a request that rmcp could not make sense of, if it is about tasks: with parameters that are no good, or with a
/// method that is reserved (ERR-01, LEG-02, case 31).
pub(super) async fn answer_custom(
    engine: &Engine,
    principals: &Principals,
    request: &CustomRequest,
    context: &RequestContext<RoleServer>,
) -> Option<Result<CustomResult, ErrorData>> {
    if !protocol::is_tasks_method(&request.method) {
        return None;
    }
    Some(answer_as(engine, principals, context, &request.method, &request.params).await.map(CustomResult::new))
}
